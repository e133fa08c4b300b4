"""Partial dependence."""
