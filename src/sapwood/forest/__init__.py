"""Forest: many trees, each grown on a sample of the rows, and statistics of their agreement."""
