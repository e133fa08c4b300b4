"""The smallest change of a row after which a model predicts something else."""
