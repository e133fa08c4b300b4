"""Growth: from a coded table to a tree, and pruning."""
