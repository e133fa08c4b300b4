"""Models of other libraries, read with distrust: their files, their trees, and what is made of them here."""
