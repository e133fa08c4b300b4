"""Brute-force specification of the decision trees, and the tests that hold the library to it."""
