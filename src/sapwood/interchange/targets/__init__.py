"""Code generators for other languages and formats."""
