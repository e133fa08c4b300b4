"""Models as SQL queries."""
