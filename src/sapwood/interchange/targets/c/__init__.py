"""Models as C99."""
