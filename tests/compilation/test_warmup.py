"""What is compiled beforehand is what is needed later: for everything, or for one model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher
from scipy import sparse

import sapwood
from package_copy import as_another_user, copy_package
from sapwood.compilation import warm, workers
from sapwood.compilation.model_use import model_uses
from sapwood.compilation.uses import uses
from sapwood.errors import InternalError, NotFittedError, ParameterError
from sapwood.explain import partial_dependence, shap_interaction_values, shap_values


def entered() -> set[tuple[str, tuple[Any, ...]]]:
    """Every kernel, with the types for which it was compiled or loaded in this process."""
    modules = [module for name, module in sys.modules.items() if name.startswith("sapwood.kernels.")]
    kernels = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    return {(kernel.py_func.__name__, types) for kernel in kernels for types in kernel.overloads}


def frame(n_rows: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    made["level"] = rng.choice(["x", "y", "z", None], size=n_rows)
    made.loc[::7, "a"] = np.nan
    return made


def several_outputs() -> None:
    X, y = frame().drop(columns="level"), np.arange(900) % 3
    sapwood.DecisionTreeClassifier().fit(X, np.column_stack([y, y % 2])).predict_proba(X)
    sapwood.RandomForestRegressor(2).fit(X, np.column_stack([y, -y])).predict(X)


def monotone_tree() -> None:
    X = frame().drop(columns="level")
    sapwood.DecisionTreeRegressor(monotonic_cst=[1, 0, -1]).fit(X, np.arange(900.0)).predict(X)


def sparse_newton() -> None:
    X = sparse.random(2000, 50, density=0.02, format="csr", random_state=0)
    sapwood.NewtonBoostingClassifier(n_estimators=3).fit(X, np.arange(2000) % 2).predict(X)


def quantiles() -> None:
    X = frame().drop(columns="level")
    sapwood.RandomForestRegressor(2, keep_targets=True).fit(X, np.arange(900.0)).predict_quantiles(X)


def explanations() -> None:
    X = frame()
    model = sapwood.GradientBoostingClassifier(n_estimators=2).fit(X, np.arange(900) % 2)
    shap_values(model, X[:3])
    shap_values(model, X[:3], background=X[:5])
    shap_interaction_values(model, X[:2])
    partial_dependence(model, X, "b", method="recursion", output="score")


def categories_of_a_frame() -> None:
    X, y = frame(), np.arange(900) % 2
    for model in (sapwood.DecisionTreeClassifier(), sapwood.RandomForestClassifier(2), sapwood.AdaBoostClassifier()):
        model.fit(X, y).predict(X)
    sapwood.NewtonBoostingRegressor(n_estimators=2).fit(X, y, sample_weight=1.0 + y).predict(X)


def linear_leaves() -> None:
    X = frame(1200).drop(columns="level")
    model = sapwood.NewtonBoostingRegressor(learning_rate=0.3).fit(X, 2.0 * X["b"] - X["c"])
    assert model.model_.trees.is_linear
    model.predict(X)
    shap_values(model, X[:3])
    shap_values(model, X[:3], background=X[:5])
    shap_interaction_values(model, X[:2])
    partial_dependence(model, X, "b", method="recursion")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_after_a_warm_up_nothing_is_left_to_compile() -> None:
    for use in uses().values():
        use()
    before = entered()
    work: list[Callable[[], None]] = [several_outputs, monotone_tree, sparse_newton, quantiles, explanations]
    for use in [*work, categories_of_a_frame, linear_leaves]:
        use()
    left = {name for name, _ in entered() - before}
    assert not left


def fitted_models() -> dict[str, tuple[Any, Any]]:
    X, y = frame(), np.where(np.arange(900) % 2, "yes", "no")
    plain = X.drop(columns="level")
    return {
        "tree of a frame": (sapwood.DecisionTreeClassifier().fit(X, y), X),
        "forest of two outputs": (sapwood.RandomForestClassifier(2).fit(plain, np.column_stack([y, y])), plain),
        "boosting": (sapwood.NewtonBoostingRegressor(n_estimators=2).fit(X, np.arange(900.0)), X),
        "linear boosting": (sapwood.NewtonBoostingRegressor(n_estimators=2, linear_tree=True).fit(X, X["b"]), X),
        "AdaBoost of a matrix": (sapwood.AdaBoostClassifier(n_estimators=2).fit(plain.to_numpy(), y), plain.to_numpy()),
    }


@pytest.mark.parametrize(
    "name", ["tree of a frame", "forest of two outputs", "boosting", "linear boosting", "AdaBoost of a matrix"]
)
def test_one_model_is_used_as_it_will_be_and_stays_as_it_is(name: str, tmp_path: Path) -> None:
    model, _ = fitted_models()[name]
    before, path = sapwood.fingerprint(model), tmp_path / "model.sapwood"
    sapwood.save(model, path)
    for given in (model, path, str(path)):
        found = model_uses(given, predict_only=True)
        assert list(found) == ["predicting"]
        found["predicting"]()
    wanted = model_uses(model, predict_only=False)
    assert {"predicting", "fitting"} <= set(wanted)
    wanted["fitting"]()
    assert sapwood.fingerprint(model) == before


def test_a_warm_up_of_a_model_reports_each_step(tmp_path: Path) -> None:
    model, _ = fitted_models()["tree of a frame"]
    heard: list[Any] = []
    warm.run_warmup(model, None, True, lambda *told: heard.append(told))
    assert heard == [("predicting", 1, 1)]
    sapwood.warmup(model, predict_only=True)


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"predict_only=True needs a model"):
        sapwood.warmup(predict_only=True)
    with pytest.raises(ParameterError, match="n_jobs"):
        sapwood.warmup(n_jobs=0)
    with pytest.raises(NotFittedError):
        sapwood.warmup(sapwood.DecisionTreeClassifier())


def test_processes_share_the_work_and_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["numbers, best splitter, columns of numbers", "two classes, best splitter, columns of numbers"]
    heard: list[Any] = []
    workers.share_out(names, 2, lambda *told: heard.append(told))
    assert sorted(name for name, _, _ in heard) == names
    assert [(done, wanted) for _, done, wanted in heard] == [(1, 2), (2, 2)]


def test_a_process_that_ends_too_soon_is_an_error() -> None:
    with pytest.raises(InternalError, match="no such use"):
        workers.share_out(["no such use"], 1, lambda *_: None)


def test_where_nothing_can_be_kept_this_process_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(warm, "can_store", lambda: False)
    monkeypatch.setattr(warm, "uses", lambda: {"one": lambda: done.append("one"), "two": lambda: done.append("two")})
    sapwood.warmup(n_jobs=4)
    assert done == ["one", "two"]


def test_a_folder_that_cannot_be_written_to_is_found_out(tmp_path: Path) -> None:
    copy = copy_package(tmp_path / "site")
    asked = "from sapwood.kernels._cache import can_store; print(can_store())"
    assert copy.run(asked).stdout == "True\n"
    assert not list(copy.home.rglob("*.tmp"))
    assert as_another_user(copy).run(asked).stdout == "False\n"
