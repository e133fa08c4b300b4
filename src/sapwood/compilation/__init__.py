"""Compiling kernels before they are needed: `sapwood.warmup` is in `warm`."""
