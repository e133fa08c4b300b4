"""Types of intrinsics: each gives the signature of a call and a function that writes LLVM's instructions for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature

Values = Sequence[ir.Value]
Generator = Callable[[BaseContext, ir.IRBuilder, Signature, Values], ir.Value]
Intrinsic = tuple[Signature, Generator]

__all__ = ["BaseContext", "Intrinsic", "Signature", "Values"]
