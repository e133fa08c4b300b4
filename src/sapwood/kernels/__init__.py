"""All compiled code. A kernel takes arrays and scalars, says what it writes, raises nothing and draws nothing."""
