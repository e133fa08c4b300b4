"""Models of XGBoost, from memory or from files."""
