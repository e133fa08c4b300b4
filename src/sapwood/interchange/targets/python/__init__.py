"""Models as plain Python."""
