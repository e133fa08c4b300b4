"""Shapley values."""
