"""lleaves."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from predictors.base import Predictor


class Lleaves(Predictor):
    """Machine code for one LightGBM model, made by LLVM. Numbers stay doubles, as in LightGBM."""

    name = "lleaves"
    package = "lleaves"
    sources = ("lightgbm",)
    call = "predict"
    is_compiled = True

    def convert(self, model: Any) -> Any:
        path = self.task.folder / "lightgbm.txt"
        if not path.exists():
            model.save_model(path)
        return _compiled(path)

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, n_jobs=self.task.threads)


@cache
def _compiled(path: Path) -> Any:
    """Its code, for batches and single rows: one block of all trees, as it advises for these, gave next to nothing."""
    import lleaves

    _stand_in_for_old_llvm()
    model = lleaves.Model(path)
    model.compile()
    return model


def _stand_in_for_old_llvm() -> None:
    """llvmlite has dropped the pass manager that lleaves 1.3 calls: the same passes by its successor."""
    import llvmlite.binding
    from lleaves import compiler, llvm_binding

    if not hasattr(llvmlite.binding, "PassManagerBuilder"):
        compiler.compile_to_module = _compile_to_module
        llvm_binding._initialize_llvm = _initialize_llvm


def _initialize_llvm() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _compile_to_module(
    file_path: Any, fblocksize: int, finline: bool, raw_score: bool, froot_func_name: str, use_fp64: bool
) -> Any:
    """Like the function of this name in lleaves, whose arguments it takes."""
    import llvmlite.binding as llvm
    import llvmlite.ir
    from lleaves.compiler.ast import parse_to_ast
    from lleaves.compiler.codegen import gen_forest
    from lleaves.llvm_binding import _get_target_machine

    forest = parse_to_ast(file_path)
    forest.raw_score = raw_score
    code = llvmlite.ir.Module(name="forest")
    gen_forest(forest, code, fblocksize, froot_func_name, use_fp64)
    code.triple = llvm.get_process_triple()
    module = llvm.parse_assembly(str(code))
    module.verify()
    _initialize_llvm()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    if finline:
        options.inlining_threshold = 1
    passes = llvm.create_pass_builder(_get_target_machine(), options)
    passes.getModulePassManager().run(module, passes)
    return module
