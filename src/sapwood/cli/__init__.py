"""The command line: files in, tables, pictures and files out. It contains no mathematics."""
