"""Sources: rows that are read batch by batch, as often as needed, because they may not fit into memory."""
