"""Models of other libraries; their files are not trusted."""
