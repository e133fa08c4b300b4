"""Kernels that only kernels call: kept as LLVM's code, which is copied into their callers.

Numba optimizes every kernel fully and makes machine code of it. Nobody enters that of such kernels, and they are
optimized again in each caller. A third of the time of compiling went into both.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.funcdesc import FunctionDescriptor
from numba.core.typed_passes import NativeLowering

BITCODE = "bitcode"  # Numba's name of this form


class BitcodeLibrary(JITCodeLibrary):
    """LLVM's code of a kernel, optimized and ready to be copied."""

    def _optimize_final_module(self) -> None:
        codegen = self._codegen
        options = {"loop_vectorize": codegen._loopvect, "slp_vectorize": False, "opt": codegen._opt_level}
        passes, builder = codegen._module_pass_manager(cost="cheap", **options)
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is written to a file: there is no object code."""
        return self.name, BITCODE, self._get_module_for_linking().as_bitcode()


@register_pass(mutates_CFG=True, analysis_only=False)
class BitcodeLowering(NativeLowering):
    """Numba's last step, without machine code."""

    _name = "bitcode_lowering"

    def run_pass(self, state: Any) -> bool:
        """Make and optimize LLVM's code, and tell Numba's compiler of it."""
        state.library = BitcodeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        state.library._ensure_finalized()
        lowered = state["cr"]
        function = _no_function(lowered.fndesc, lowered.env, state.library)
        state.targetctx.insert_user_function(function, lowered.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        state["cr"] = lowered._replace(cfunc=function)
        return True


class BitcodeCompiler(CompilerBase):
    """Numba's compiler with this step."""

    def define_pipelines(self) -> list[PassManager]:
        """All passes of compiled code."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(BitcodeLowering if each is NativeLowering else each, name) for each, name in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]


def rebuilt(target_context: CPUContext, compiled: tuple[Any, ...]) -> CompileResult:
    """A kernel from the file that it was written to."""
    (name, _, bitcode), description, environment, signature, objectmode, lifted, annotation, reload, others = compiled
    for function in reload:
        function()
    library = BitcodeLibrary(target_context.codegen(), name)
    library._final_module = library._shared_module = binding.parse_bitcode(bitcode)
    library._finalize_final_module()
    make: Any = CompileResult
    result: CompileResult = make(
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=library,
        environment=environment,
        entry_point=_no_function(description, environment, library),
        fndesc=description,
        type_annotation=annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=reload,
        referenced_envs=others,
    )
    return result


def _no_function(description: FunctionDescriptor, environment: object, library: BitcodeLibrary) -> object:
    """What Numba keeps of a kernel that Python cannot call; `InnerKernel` sees to it that Python does not."""
    module, name = description.lookup_module(), description.qualname.split(".")[-1]
    return _dynfunc.make_function(module, name, "", 0, environment, (library,))
