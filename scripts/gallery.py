"""Draws every picture of `sapwood.plot` on small data sets: python scripts/gallery.py [FOLDER] [NAME …]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import train_test_split

import sapwood
from sapwood import explain

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Add a picture, named after the function that draws it."""
    PICTURES[draw.__name__] = draw
    return draw


@cache
def cancer() -> tuple[Any, ...]:
    """Breast cancer: rows to train on and to test on, and their classes."""
    data = load_breast_cancer(as_frame=True)
    return tuple(train_test_split(data.data, data.target_names[data.target], test_size=0.4, random_state=0))


@cache
def classes(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Flowers or wines, and their classes."""
    data = {"iris": load_iris, "wine": load_wine}[name](as_frame=True)
    return data.data, data.target_names[data.target]


@cache
def diabetes() -> tuple[pd.DataFrame, pd.Series]:
    """Patients, and how far their illness has gone on a year later."""
    data = load_diabetes(as_frame=True, scaled=False)
    return data.data, data.target


@cache
def bookings(n: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    """Made-up hotel bookings with text, dates and missing values, and their prices."""
    rng = np.random.default_rng(0)
    days = rng.integers(0, 700, n)
    rows = pd.DataFrame(
        {
            "city": rng.choice(["Amsterdam", "Berlin", "Dublin", "Porto"], n),
            "room": rng.choice(["single", "double", "suite"], n, p=[0.4, 0.4, 0.2]),
            "booked on": pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D"),
            "nights": np.where(rng.random(n) < 0.1, np.nan, rng.integers(1, 15, n)),
            "returning guest": rng.random(n) < 0.4,
        }
    )
    base = rows["city"].map({"Amsterdam": 120, "Berlin": 90, "Dublin": 110, "Porto": 80})
    extra = rows["room"].map({"single": 0, "double": 25, "suite": 90})
    price = base + extra + 0.1 * days - 2.5 * rows["nights"].fillna(4) - 8 * rows["returning guest"]
    return rows, (price + rng.normal(0, 8, n)).rename("price")


@cache
def cancer_forest() -> Any:
    """A forest on breast cancer."""
    x, _, y, _ = cancer()
    return sapwood.RandomForestClassifier(300, oob_score=True, random_state=0, n_jobs=-1).fit(x, y)


@cache
def cancer_boosting() -> Any:
    """Boosting on breast cancer that stops early."""
    x, x_test, y, y_test = cancer()
    model = sapwood.NewtonBoostingClassifier(n_estimators=300, learning_rate=0.2, max_depth=3, early_stopping_rounds=30)
    return model.fit(x, y, eval_set=[(x, y), (x_test, y_test)])


@cache
def iris_boosting() -> Any:
    """Boosting on iris: three scores."""
    return sapwood.NewtonBoostingClassifier(n_estimators=30, max_depth=3).fit(*classes("iris"))


@cache
def booking_boosting() -> Any:
    """Boosting on the bookings."""
    return sapwood.NewtonBoostingRegressor(n_estimators=150, max_depth=3, learning_rate=0.15).fit(*bookings())


@cache
def diabetes_boosting() -> Any:
    """Boosting on diabetes."""
    return sapwood.NewtonBoostingRegressor(n_estimators=60, max_depth=3).fit(*diabetes())


@picture
def tree() -> Any:
    """A single tree: numbers, dates and names of categories."""
    model = sapwood.DecisionTreeRegressor(max_leaf_nodes=5).fit(*bookings())
    return sapwood.plot_tree(model, impurity=False, precision=1)


@picture
def tree_of_forest() -> Any:
    """One tree of a forest, chosen by number."""
    return sapwood.plot_tree(cancer_forest(), tree=7, max_depth=2)


@picture
def tree_of_boosting() -> Any:
    """One tree of boosting, chosen by round and class."""
    return sapwood.plot_tree(iris_boosting(), tree=(3, "versicolor"))


@picture
def importance() -> Any:
    """Importance by permutation, with standard errors."""
    _, x, _, y = cancer()
    return sapwood.plot_importance(explain.importance(cancer_forest(), x, y), "permutation", most=12)


@picture
def importance_out_of_bag() -> Any:
    """Importance by permutation out of bag."""
    x, _, y, _ = cancer()
    return sapwood.plot_importance(cancer_forest().permutation_importance(x, y), most=12)


@picture
def shap_summary() -> Any:
    """Effects of features of all kinds."""
    x, _ = bookings()
    return sapwood.plot_shap_summary(explain.shap_values(booking_boosting(), x))


@picture
def shap_summary_of_classes() -> Any:
    """Effects on several classes."""
    x, _ = classes("iris")
    return sapwood.plot_shap_summary(explain.shap_values(iris_boosting(), x))


@picture
def shap_waterfall() -> Any:
    """The way to one prediction."""
    _, x, _, _ = cancer()
    return sapwood.plot_shap_waterfall(explain.shap_values(cancer_boosting(), x), row=3)


@picture
def shap_waterfall_of_booking() -> Any:
    """The way to one price."""
    x, _ = bookings()
    return sapwood.plot_shap_waterfall(explain.shap_values(booking_boosting(), x), row=5)


@picture
def partial_dependence() -> Any:
    """Dependence on a number, with single rows."""
    x, _ = diabetes()
    return sapwood.plot_partial_dependence(explain.partial_dependence(diabetes_boosting(), x, ["bmi"], kind="both"))


@picture
def partial_dependence_on_category() -> Any:
    """Dependence on a category."""
    x, _ = bookings()
    return sapwood.plot_partial_dependence(explain.partial_dependence(booking_boosting(), x, ["city"], kind="both"))


@picture
def partial_dependence_on_date() -> Any:
    """Dependence on a date."""
    x, _ = bookings()
    found = explain.partial_dependence(booking_boosting(), x, ["booked on"], kind="both")
    return sapwood.plot_partial_dependence(found)


@picture
def partial_dependence_of_classes() -> Any:
    """Dependence of several classes."""
    x, _ = classes("iris")
    found = explain.partial_dependence(iris_boosting(), x, ["petal length (cm)"], kind="both")
    return sapwood.plot_partial_dependence(found)


@picture
def partial_dependence_map() -> Any:
    """Dependence on two numbers."""
    x, _ = diabetes()
    return sapwood.plot_partial_dependence(explain.partial_dependence(diabetes_boosting(), x, ["bmi", "s5"]))


@picture
def partial_dependence_map_of_levels() -> Any:
    """Dependence on two categories."""
    x, _ = bookings()
    return sapwood.plot_partial_dependence(explain.partial_dependence(booking_boosting(), x, ["city", "room"]))


@picture
def learning_curves() -> Any:
    """Curves of training with the chosen round."""
    return sapwood.plot_learning_curves(cancer_boosting())


@picture
def learning_curves_of_stages() -> Any:
    """Curves of gradient boosting: training, out of bag, validation."""
    settings = {"subsample": 0.6, "n_iter_no_change": 15, "validation_fraction": 0.25, "random_state": 0}
    return sapwood.plot_learning_curves(
        sapwood.GradientBoostingRegressor(n_estimators=200, **settings).fit(*diabetes())
    )


@picture
def learning_curves_of_adaboost() -> Any:
    """Errors of the learners of AdaBoost."""
    x, _, y, _ = cancer()
    return sapwood.plot_learning_curves(sapwood.AdaBoostClassifier(n_estimators=60, random_state=0).fit(x, y))


@picture
def cross_validation() -> Any:
    """Curves of a cross-validation with the choice of the 1-SE rule."""
    x, _, y, _ = cancer()
    model = sapwood.NewtonBoostingClassifier(n_estimators=80, learning_rate=0.2)
    return sapwood.plot_learning_curves(sapwood.cross_validate_boosting(model, x, y, rule="1se"))


@picture
def oob_curve() -> Any:
    """Error of a forest after each tree."""
    return sapwood.plot_oob_curve(cancer_forest())


@picture
def pruning() -> Any:
    """Error of a tree over the strength of pruning, with the choice of the 1-SE rule."""
    data = load_breast_cancer(return_X_y=True)
    return sapwood.plot_pruning(sapwood.prune_by_cv(sapwood.DecisionTreeClassifier(), *data, rule="1se"))


@picture
def pruning_of_large_tree() -> Any:
    """The same for a tree of hundreds of leaves."""
    return sapwood.plot_pruning(sapwood.prune_by_cv(sapwood.DecisionTreeRegressor(), *diabetes(), rule="1se"))


@picture
def decision_regions() -> Any:
    """Map of a forest's decisions."""
    x, y = classes("wine")
    forest = sapwood.RandomForestClassifier(100, random_state=0).fit(x, y)
    return sapwood.plot_decision_regions(forest, x, y, features=("flavanoids", "color_intensity"))


@picture
def decision_regions_of_numbers() -> Any:
    """Map of predicted prices over a date and a category."""
    return sapwood.plot_decision_regions(booking_boosting(), *bookings(), features=("booked on", "room"))


@picture
def confusion_matrix() -> Any:
    """Classes taken for others."""
    x, x_test, y, y_test = train_test_split(*classes("wine"), test_size=0.5, random_state=0)
    return sapwood.plot_confusion_matrix(sapwood.DecisionTreeClassifier(max_depth=2).fit(x, y), x_test, y_test)


@picture
def calibration() -> Any:
    """Probabilities of three models against the truth."""
    x, x_test, y, y_test = cancer()
    adaboost = sapwood.AdaBoostClassifier(n_estimators=60, random_state=0).fit(x, y)
    models = {"boosting": cancer_boosting(), "forest": cancer_forest(), "AdaBoost": adaboost}
    return sapwood.plot_calibration(models, x_test, y_test)


@picture
def calibration_of_classes() -> Any:
    """Probabilities of three classes against the truth."""
    x, x_test, y, y_test = train_test_split(*classes("wine"), test_size=0.5, random_state=0)
    forest = sapwood.RandomForestClassifier(100, random_state=0).fit(x, y)
    return sapwood.plot_calibration(forest, x_test, y_test, n_bins=5)


def main(arguments: list[str]) -> int:
    """Draw all pictures, or those named, into a folder."""
    if "--help" in arguments:
        print(__doc__)
        return 0
    mpl.use("Agg")
    folder = Path(arguments[0]) if arguments else FOLDER
    unknown = [name for name in arguments[1:] if name not in PICTURES]
    if unknown:
        print(f"There is no picture {unknown[0]!r}. The pictures are {', '.join(PICTURES)}.", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or PICTURES:
        start = perf_counter()
        PICTURES[name]().figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close("all")
        print(f"{folder / name}.png  {perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
