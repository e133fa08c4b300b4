"""Row work of boosting."""
