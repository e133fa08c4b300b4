"""Compiling kernels before they are needed."""

from sapwood.compilation.warm import warmup

__all__ = ["warmup"]
