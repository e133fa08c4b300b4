import warnings
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from plot.given import legend
from sapwood import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.plot import plot_learning_curves, plot_oob_curve


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x[:, 0] + rng.normal(0, 0.5, n) > 0, "yes", "no")


@pytest.fixture(scope="module")
def boosted():
    options = {"n_estimators": 60, "learning_rate": 0.5, "max_depth": 3, "eval_metric": ["error", "logloss"]}
    model = NewtonBoostingClassifier(early_stopping_rounds=5, **options)
    return model.fit(*rows(), eval_set=[rows(), rows(seed=1)])


def test_curves_of_all_sets_and_the_chosen_round(boosted):
    ax = plot_learning_curves(boosted)
    best = boosted.best_iteration_ + 1
    assert legend(ax) == ["validation_0", "validation_1", f"chosen: {best} rounds, {boosted.best_score_:.4g}"]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), boosted.evals_result_["validation_1"]["logloss"])
    assert ax.lines[-1].get_xdata() == [best]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rounds", "logloss")


def test_another_metric_can_be_chosen(boosted):
    ax = plot_learning_curves(boosted, "error")
    assert ax.get_ylabel() == "error"
    assert legend(ax)[-1].startswith(f"used: {boosted.best_n_rounds_} round")
    with pytest.raises(ParameterError, match=r"metric='auc'.*'error' or 'logloss'"):
        plot_learning_curves(boosted, "auc")


def test_without_early_stopping_all_rounds_are_used():
    model = NewtonBoostingClassifier(n_estimators=30, learning_rate=1.0).fit(*rows(), eval_set=[rows(seed=1)])
    labels = legend(plot_learning_curves(model))
    assert labels[1].startswith(f"best: {model.best_iteration_ + 1} round")
    assert labels[2].startswith("used: 30 rounds")


def test_a_continued_model_begins_where_it_was_measured():
    first = NewtonBoostingClassifier(n_estimators=4).fit(*rows())
    model = NewtonBoostingClassifier(n_estimators=6)
    model.fit(*rows(), eval_set=[rows(seed=1)], init_model=first)
    line = plot_learning_curves(model).lines[0]
    assert line.get_xdata().tolist() == [5, 6, 7, 8, 9, 10]


def test_stages_of_gradient_boosting():
    x, _ = rows()
    options = {"subsample": 0.5, "n_iter_no_change": 3, "validation_fraction": 0.3, "random_state": 0}
    model = GradientBoostingRegressor(n_estimators=40, **options).fit(x, x[:, 0])
    ax = plot_learning_curves(model)
    assert legend(ax)[:3] == ["train", "out of bag", "validation"]
    assert ax.get_ylabel() == "loss (squared error)"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.train_score_)
    one = plot_learning_curves(GradientBoostingRegressor(n_estimators=1).fit(x, x[:, 0]))
    assert legend(one)[0] == "train"
    assert one.lines[0].get_marker() == "o"


def test_learners_of_adaboost():
    model = AdaBoostClassifier(n_estimators=8).fit(*rows())
    ax = plot_learning_curves(model)
    assert legend(ax) == ["each learner", "no better than guessing"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.estimator_errors_[: len(model.estimators_)])
    x, _ = rows()
    assert legend(plot_learning_curves(AdaBoostRegressor(n_estimators=3).fit(x, x[:, 0]))) == ["each learner"]


def test_a_cross_validation_is_drawn():
    mean = np.array([0.5, 0.3, 0.4])
    curve = SimpleNamespace(mean=mean, standard_error=mean / 10)
    result = SimpleNamespace(
        test_curve=curve,
        train_curve=curve,
        best_round=1,
        top_round=1,
        rule="min",
        metric="rmse",
        larger_is_better=False,
    )
    assert plot_learning_curves(result).get_ylabel() == "cross-validated rmse"
    with pytest.raises(ParameterError, match="metric='mae'"):
        plot_learning_curves(result, "mae")


def test_models_without_curves_are_refused():
    x, y = rows()
    cases = [
        (NewtonBoostingClassifier(n_estimators=1).fit(x, y), InputError, "nothing was measured"),
        (NewtonBoostingClassifier(), NotFittedError, "not fitted"),
        (RandomForestClassifier(), NotFittedError, "not fitted"),
        (DecisionTreeClassifier().fit(x, y), InputTypeError, "not trained in rounds"),
        (NewtonBoostingClassifier, InputTypeError, "the class NewtonBoostingClassifier"),
        (3, InputTypeError, "model is a int"),
    ]
    for model, error, words in cases:
        with pytest.raises(error, match=words):
            plot_learning_curves(model)
    assert not plt.get_fignums()


def forest(kind=RandomForestClassifier, n_trees=60, **options):
    x, y = rows()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*in the bag of every tree", category=UserWarning)
        model = kind(n_trees, random_state=0, **{"oob_score": True} | options)
        return model.fit(x, y if kind is RandomForestClassifier else x[:, 0])


def test_the_error_after_each_tree():
    model = forest(oob_tol=0.5)
    ax = plot_oob_curve(model)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), model.oob_curve_)
    assert legend(ax)[1] == "flat after 50 trees"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("trees", "out-of-bag error (share of wrong classes)")


def test_a_forest_that_stopped_says_so():
    ax = plot_oob_curve(forest(RandomForestRegressor, 200, oob_stop=True, oob_tol=0.5))
    assert legend(ax)[1] == "flat after 50 trees: growth stopped"
    assert ax.get_ylabel() == "out-of-bag error (mean squared error)"


def test_one_tree_is_a_point():
    ax = plot_oob_curve(forest(n_trees=1))
    assert ax.lines[0].get_marker() == "o"
    assert len(legend(ax)) == 1


def test_forests_without_a_curve_are_refused():
    x, y = rows()
    cases = [
        (RandomForestClassifier(2).fit(x, y), InputError, "Set oob_score=True before fit"),
        (RandomForestClassifier(2), NotFittedError, "not fitted"),
        (NewtonBoostingClassifier(n_estimators=1).fit(x, y), InputTypeError, "Use plot_learning_curves"),
        (RandomForestClassifier, InputTypeError, "the class RandomForestClassifier"),
        ([], InputTypeError, "forest is a list"),
    ]
    for model, error, words in cases:
        with pytest.raises(error, match=words):
            plot_oob_curve(model)
    with pytest.raises(InputTypeError, match="Use plot_oob_curve"):
        plot_learning_curves(forest(n_trees=30))
    assert not plt.get_fignums()


def test_given_axes_are_used(boosted):
    ax = plt.subplots()[1]
    assert plot_learning_curves(boosted, ax=ax) is ax
    assert plot_oob_curve(forest(n_trees=30), ax) is ax
    assert len(plt.get_fignums()) == 1
