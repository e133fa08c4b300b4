"""Models in XGBoost's JSON format."""
