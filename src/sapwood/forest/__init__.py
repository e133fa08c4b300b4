"""Forest: many trees, each grown on a sample of the rows, and what their agreement tells."""
