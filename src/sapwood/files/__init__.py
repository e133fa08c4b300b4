"""Models in files: one safe format for all of them."""
