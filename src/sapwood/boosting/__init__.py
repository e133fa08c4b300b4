"""Tree work of boosting: growth, rounds, ensembles."""
