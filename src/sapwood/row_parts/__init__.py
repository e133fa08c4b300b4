"""Results about all rows from parts of them: exact sums, quantiles, and what losses ask for."""
