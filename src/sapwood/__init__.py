"""Sapwood: every classic tree method of machine learning on one engine."""

__version__ = "0.1.0"
