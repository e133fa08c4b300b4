"""Codes: columns as integers or sorted lists."""
