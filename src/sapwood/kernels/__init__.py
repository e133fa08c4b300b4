"""All compiled code. A kernel takes arrays and scalars, documents what it writes, raises nothing and draws nothing."""
