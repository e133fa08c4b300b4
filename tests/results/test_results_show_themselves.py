"""Every public result and every estimator shows itself: short, without raw arrays, and safely in notebooks."""

import dataclasses
import importlib
import inspect
import pkgutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import sapwood as sw
from sapwood import explain
from sapwood.boosting.memory_plan import TrainingSize, plan_for
from sapwood.result import LONGEST_CELL, LONGEST_LINE, MOST_COLUMNS, MOST_LINES, Result, TextTable, html_of

HOSTILE = '<script>alert("x")</script>'
LONG = "n" * 10_000
NAMES = [HOSTILE, LONG, "a\nb", "\u202eevil", "=cmd|' /C calc'!A0", "\ud800lone"]
LONGEST_REPR = (MOST_LINES + 6) * (LONGEST_LINE + 1)
LONGEST_HTML = 8 * LONGEST_REPR


class Tags(HTMLParser):
    """Tags of a page, and whether each is closed."""

    def __init__(self):
        super().__init__()
        self.seen, self.open = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_html(page, allowed=frozenset({"div", "pre", "table", "thead", "tbody", "tr", "th", "td"})):
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.seen <= allowed
    assert not tags.open
    page.encode("utf-8")
    assert len(page) <= LONGEST_HTML


def check_shown(result):
    text = repr(result)
    text.encode("utf-8")
    assert 0 < len(text) <= LONGEST_REPR
    assert "array(" not in text
    assert " object at 0x" not in text
    assert "\u202e" not in text
    check_html(result._repr_html_())


def table(n=80, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 5)), columns=NAMES[:5])
    X["level"] = pd.Categorical(random.choice(NAMES[:5], n))
    return X, np.asarray(X[HOSTILE] + X["a\nb"] + 0.3 * random.normal(size=n))


@pytest.fixture(scope="module")
def results():
    """One result of every public kind, by its class."""
    X, y = table()
    classes = np.array(["no", HOSTILE])[(y > 0).astype(int)]
    tree = sw.DecisionTreeClassifier(max_depth=3).fit(X, classes)
    forest = sw.RandomForestRegressor(8, random_state=0, bootstrap=True).fit(X, y)
    told, folds_told = [], []
    newton = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=4, max_depth=2, callbacks=[told.append]).fit(
        X, y
    )
    rising = sw.NewtonBoostingRegressor(
        recipe="xgboost", n_estimators=3, max_depth=2, monotone_constraints={HOSTILE: 1}
    ).fit(X, y)
    cv = sw.cross_validate_boosting(
        sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, max_depth=2, callbacks=[folds_told.append]),
        X,
        y,
        cv=2,
    )
    broken = newton.certify(monotone_constraints={HOSTILE: -1})
    path = explain.decision_path(newton, X.iloc[[0]])
    other = explain.counterfactual(tree, X.iloc[[0]])
    fewer = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, max_depth=3).fit(X.iloc[:60], y[:60])
    difference = sw.diff(fewer, rising, X)
    bare = sw.diff(
        newton,
        sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=4, max_depth=2).fit(X.drop(columns=LONG), y),
        X,
    )
    rules = explain.trees_as_rules(newton)
    made = [
        tree.model_,
        explain.shap_values(tree, X),
        explain.shap_interaction_values(tree, X.iloc[:5]),
        explain.importance(forest, X, y),
        explain.partial_dependence(newton, X, [HOSTILE, "level"]),
        *(rules, rules[0], path, path.paths[0], path.paths[0].steps[0], other, other.changes[0], difference),
        *(difference.moves, difference.rows[0], difference.trees, difference.trees.trees[0], difference.parts),
        *(difference.shap, difference.shap.features[0], difference.splits[0], difference.parameters[0]),
        bare.columns[0],
        *(broken, broken.counter_example, rising.certify(), cv, cv.test_curve, told[-1], folds_told[-1]),
        sw.prune_by_cv(sw.DecisionTreeRegressor(), X, y, cv=3),
        sw.tune_by_oob(sw.RandomForestRegressor(30, random_state=0), X, y, max_features=[1, 2], min_samples_leaf=[1]),
        forest.permutation_importance(X, y, n_repeats=1),
        plan_for(TrainingSize(1000, 3, 8, 1, 600, 32, 10, 6), 1 << 30, "rows.parquet"),
        *(tree.schema_, tree.schema_.columns[5], tree.tree_, tree.model_, newton.ensemble_, forest.forest_),
    ]
    return {type(one): one for one in made}


def result_classes():
    """All classes of the library that are results, private ones aside."""
    for module in pkgutil.walk_packages(sw.__path__, "sapwood."):
        if not module.name.startswith(("sapwood.kernels", "sapwood.cli")):
            importlib.import_module(module.name)
    todo, found = [Result], set()
    while todo:
        own = todo.pop().__subclasses__()
        found.update(own)
        todo += own
    found = {cls for cls in found if cls.__module__.startswith("sapwood.") and not cls.__name__.startswith("_")}
    return sorted(found, key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", result_classes(), ids=lambda cls: cls.__name__)
def test_every_result_shows_itself(results, cls):
    assert cls in results, f"no example of {cls.__name__}"
    check_shown(results[cls])


def test_public_classes_of_results_are_results():
    public = [getattr(explain, name) for name in explain.__all__] + [getattr(sw, name) for name in sw.__all__]
    classes = [cls for cls in public if inspect.isclass(cls) and not issubclass(cls, BaseEstimator)]
    held = {cls for cls in classes if dataclasses.is_dataclass(cls)}
    assert {cls.__name__ for cls in held if not issubclass(cls, Result)} <= {"Checkpoint"}


def test_text_of_a_result_is_its_repr_if_it_is_short(results):
    for cls in (explain.DecisionPath, explain.Counterfactual, sw.Certificate, sw.PruningChoice):
        small = results[cls]
        assert repr(small).splitlines()[0][:80] == str(small).splitlines()[0][:80]


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("name", [name for name in sw.__all__ if name.endswith(("Classifier", "Regressor"))])
def test_every_estimator_shows_its_facts(name, fitted):
    model = getattr(sw, name)()
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    X, y = table(40)
    if fitted:
        model.fit(X, np.array(["no", HOSTILE])[(y > 0).astype(int)] if name.endswith("Classifier") else y)
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert HOSTILE not in page
        assert ("greatest depth" in page) is fitted
        if fitted:
            assert "6 columns (5 number, 1 category)" in page
            check_html(page[page.rindex("<div><table border") :])
    for attribute in vars(model):
        own = getattr(model, attribute)
        if fitted and attribute.endswith("_") and type(own).__module__.startswith("sapwood"):
            assert len(repr(own)) <= LONGEST_REPR
            assert "array(" not in repr(own)


def test_facts_tell_rounds_score_and_why_training_ended():
    X, y = table()
    model = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=50, early_stopping_rounds=2).fit(
        X[:60], y[:60], eval_set=[(X[60:], y[60:])]
    )
    page = model._repr_html_()
    for words in ("rounds", "best score", "no better round for early_stopping_rounds=2"):
        assert words in page


def test_scikit_learns_choice_of_text_is_respected():
    import sklearn

    with sklearn.config_context(display="text"):
        assert not hasattr(sw.DecisionTreeClassifier(), "_repr_html_")
        assert "text/html" not in sw.DecisionTreeClassifier()._repr_mimebundle_()


def test_huge_results_are_cut_but_their_text_is_whole():
    X, y = table(300)
    rules = explain.trees_as_rules(sw.DecisionTreeRegressor().fit(X, y))
    assert len(str(rules).splitlines()) == len(rules) > 200
    assert repr(rules).splitlines()[-1] == "…"
    check_shown(rules)


def test_a_table_is_cut_in_rows_columns_and_cells():
    wide = TextTable([f"head {k}" for k in range(50)], [[LONG] * 50] * 500).bounded()
    lines = list(wide.lines())
    assert len(lines) == MOST_LINES + 2
    assert lines[-1] == "… 440 more rows"
    assert len(wide.heads) == MOST_COLUMNS + 1
    assert max(map(len, lines)) <= (MOST_COLUMNS + 1) * (LONGEST_CELL + 2)
    check_html(html_of([wide]))


def test_a_table_in_text():
    table = TextTable(("name", "value"), [("a", "1.5"), ("long", "22")], rest="3 more", indent=2)
    assert list(table.lines()) == ["  name  value", "  a       1.5", "  long     22", "  … 3 more"]
    assert html_of(["<b>", table]).startswith("<div><pre")
    assert "&lt;b&gt;" in html_of(["<b>", table])
