"""Estimators: scikit-learn's interface."""
