"""`sapwood demo`: three trees and a boosted ensemble on the Wisconsin breast cancer data."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import RoundsBar, print_line, print_table, track
from sapwood.progress_bar import RoundProgress

if TYPE_CHECKING:
    from sapwood.estimators.estimator import Estimator


def demo(
    out: Annotated[Path, typer.Option("--out", help="Picture file of the tree.")] = Path("sapwood_demo_tree.png"),
) -> None:
    """Train four models on sample data.

    Trains a full, a small and a pruned decision tree and a boosted ensemble on the Wisconsin breast cancer data,
    compares them, and draws the pruned tree.
    """
    from sapwood.cli.output_file import check_picture, write_picture
    from sapwood.show import export_text

    check_picture(out)
    show = _Demo()
    for stage in track(list(show.stages.values()), list(show.stages)):
        stage()
    with RoundsBar("boosting trees") as bar:
        show.boost(bar)
    print_table("Is a tumour benign? Three trees and a boosted ensemble on 569 patients", _Demo.header, show.rows)
    pruned = show.pruned
    print_line(f"The tree pruned by cross-validation (alpha = {pruned.alpha:.4g}):")
    print_line(export_text(pruned.estimator, feature_names=show.names))
    print_line(write_picture(pruned.estimator, out, feature_names=show.names))


@dataclass
class _Trained:
    estimator: Estimator
    seconds: float


class _Demo:
    """Stages, each of which uses the results of the ones before."""

    header = ("model", "train accuracy", "test accuracy", "test AUC", "depth", "leaves", "seconds")

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.names: list[str] = []
        self.stages: dict[str, Callable[[], None]] = {
            "loading data": self._load,
            "compiling kernels": self._compile,
            "growing a full tree": self._grow_full,
            "growing a tree of depth 3": self._grow_small,
            "pruning by cross-validation": self._prune,
        }

    def boost(self, callback: Callable[[RoundProgress], None]) -> None:
        """Boost trees, with a callback for each round."""
        from sapwood import NewtonBoostingClassifier

        model = NewtonBoostingClassifier(
            n_estimators=200, learning_rate=0.1, max_depth=3, callbacks=[callback], random_state=0
        )
        self._add("boosted", self._fitted(model))

    def _load(self) -> None:
        from sapwood.kernels._helper import start_ahead

        start_ahead("growth", "trees", unless_stored="phases.work_as")
        from sklearn.datasets import load_breast_cancer
        from sklearn.model_selection import train_test_split

        data = load_breast_cancer()
        self.names = [str(name) for name in data.feature_names]
        y = data.target_names[data.target]
        parts = train_test_split(data.data, y, test_size=0.25, stratify=y, random_state=0)
        self.X, self.X_test, self.y, self.y_test = parts

    def _compile(self) -> None:
        from sapwood import DecisionTreeClassifier, NewtonBoostingClassifier

        few = slice(0, 300)
        boosting = NewtonBoostingClassifier(n_estimators=2, callbacks=[lambda _: None])  # step by step, as below
        for model in (boosting, DecisionTreeClassifier(ccp_alpha=0.01)):
            model.fit(self.X[few], self.y[few]).predict_proba(self.X[few])

    def _grow_full(self) -> None:
        self._add("full", self._fitted(self._tree()))

    def _grow_small(self) -> None:
        self._add("depth 3", self._fitted(self._tree(max_depth=3)))

    def _prune(self) -> None:
        from sapwood import prune_by_cv

        start = time.perf_counter()
        self.pruned = prune_by_cv(self._tree(), self.X, self.y, cv=5, rule="1se")
        self._add("pruned", _Trained(self.pruned.estimator, time.perf_counter() - start))

    def _tree(self, max_depth: int | None = None) -> Estimator:
        from sapwood import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=0, max_depth=max_depth)

    def _fitted(self, estimator: Estimator) -> _Trained:
        start = time.perf_counter()
        return _Trained(estimator.fit(self.X, self.y), time.perf_counter() - start)

    def _add(self, name: str, trained: _Trained) -> None:
        from sklearn.metrics import roc_auc_score

        model = trained.estimator
        first, second = model.score(self.X, self.y), model.score(self.X_test, self.y_test)
        area = roc_auc_score(self.y_test == model.classes_[1], model.predict_proba(self.X_test)[:, 1])
        trees = [term.tree for term in model.model_.trees]
        sizes = [str(max(tree.max_depth for tree in trees)), str(sum(tree.n_leaves for tree in trees))]
        self.rows.append([name, f"{first:.3f}", f"{second:.3f}", f"{area:.3f}", *sizes, f"{trained.seconds:.3f}"])
