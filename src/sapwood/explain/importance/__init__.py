"""Importance of columns."""
