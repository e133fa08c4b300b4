"""Models of LightGBM, from memory or from files."""
