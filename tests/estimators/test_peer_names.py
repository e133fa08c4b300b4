"""Names that users bring from other packages: taken, or answered with what to write."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import has_fit_parameter

import sapwood as sw
from sapwood import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    NewtonBoostingClassifier,
    NewtonBoostingRanker,
    NewtonBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    cross_validate_boosting,
    explain,
    export_graphviz,
    export_text,
    interchange,
    plot_importance,
    plot_shap_summary,
    plot_tree,
)
from sapwood.errors import AbsentNameError, InputError, InputTypeError, ParameterError, ParameterTypeError, SapwoodError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
KINDS = (
    NewtonBoostingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    DecisionTreeClassifier,
    AdaBoostClassifier,
    BaggingClassifier,
)
CATBOOST = (
    *("iterations", "learning_rate", "depth", "l2_leaf_reg", "rsm", "loss_function", "border_count", "od_wait"),
    *(
        "thread_count",
        "random_seed",
        "verbose",
        "logging_level",
        "task_type",
        "cat_features",
        "use_best_model",
        "max_bin",
    ),
    *("eta", "reg_lambda", "n_estimators", "num_trees", "num_boost_round", "max_depth", "colsample_bylevel"),
    *("random_state", "class_weights", "auto_class_weights", "min_data_in_leaf", "num_leaves", "max_leaves"),
    *("one_hot_max_size", "subsample", "bootstrap_type", "boosting_type", "grow_policy", "save_snapshot"),
)
NEUTRAL = {
    "booster": "gbtree",
    "device": "cpu",
    "enable_categorical": True,
    "missing": np.nan,
    "num_parallel_tree": 1,
    "use_label_encoder": False,
    "validate_parameters": True,
    "verbosity": 0,
}


def small(**parameters: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(**{"n_estimators": 4, "n_jobs": 1, **parameters})


def refusal(call: Any, error: type[Exception] = ParameterTypeError) -> str:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, SapwoodError)
    return str(caught.value)


class TestConstructors:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("seed", "'random_state'"),
            ("eta", "'learning_rate'"),
            ("nthread", "'n_jobs'"),
            ("num_leaves", "'max_leaves'"),
            ("feature_fraction", "'colsample_bytree'"),
            ("bagging_fraction", "'subsample'"),
            ("lambda_l1", "'reg_alpha'"),
            ("iterations", "'n_estimators'"),
            ("depth", "'max_depth'"),
            ("l2_leaf_reg", "'reg_lambda'"),
            ("warm_start", "init_model"),
            ("importance_type", r"explain\.importance"),
        ],
    )
    def test_names_of_other_packages(self, name, words):
        for call in (lambda: NewtonBoostingClassifier(**{name: 1}), lambda: small().set_params(**{name: 1})):
            with pytest.raises(ParameterTypeError, match=f"has no parameter '{name}'. .*{words}"):
                call()

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        "peer",
        [xgboost.XGBClassifier, lightgbm.LGBMClassifier, HistGradientBoostingClassifier, "catboost"],
        ids=lambda peer: getattr(peer, "__name__", peer),
    )
    def test_every_parameter_of_a_peer_is_taken_or_answered(self, kind, peer):
        known = set(kind().get_params())
        for name in CATBOOST if peer == "catboost" else peer().get_params():
            if name in known or name in kind.without_effect:
                continue
            said = refusal(lambda name=name: kind(**{name: 1}))
            assert "Did you mean" not in said
            assert name in said

    def test_a_suggestion_is_one_that_the_owner_has(self):
        for kind in KINDS:
            for name in sw.peer_names.SAME:
                if name not in kind().get_params() and name not in kind.without_effect:
                    said = refusal(lambda kind=kind, name=name: kind(**{name: 1}))
                    if " instead." in said:
                        assert said.split("'")[3] in kind().get_params()

    @pytest.mark.parametrize("name", NEUTRAL)
    def test_what_has_no_effect_is_taken(self, name):
        model = small(**{name: NEUTRAL[name]}).fit(X, Y)
        np.testing.assert_array_equal(model.predict_proba(X), small().fit(X, Y).predict_proba(X))
        assert name not in model.get_params()
        assert clone(model).get_params() == model.get_params()
        assert model.set_params(**{name: NEUTRAL[name], "max_depth": 2}).max_depth == 2
        assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"device": "cuda"}, "device='cuda' is not allowed .* on the processor"),
            ({"booster": "dart"}, "booster='dart' is not allowed .* are trees"),
            ({"missing": -999}, "missing=-999 is not allowed .*by NaN"),
            ({"num_parallel_tree": 4}, "num_parallel_tree=4 is not allowed .*RandomForest"),
        ],
        ids=str,
    )
    def test_but_not_what_would_have_one(self, given, words):
        for call in (lambda: NewtonBoostingClassifier(**given), lambda: small().set_params(**given)):
            with pytest.raises(ParameterError, match=words):
                call()

    def test_the_constructors_signature_stays(self):
        names = inspect.signature(NewtonBoostingClassifier).parameters
        assert list(names) == list(inspect.signature(NewtonBoostingRegressor.__init__).parameters)[1:]
        assert not set(names) & set(NEUTRAL)
        assert has_fit_parameter(NewtonBoostingClassifier(), "sample_weight")

    def test_a_subclass_may_have_its_own_of_that_name(self):
        class Own(NewtonBoostingClassifier):
            def __init__(self, *, device: str = "here", n_estimators: int = 2) -> None:
                super().__init__(n_estimators=n_estimators)
                self.device = device

        assert clone(Own(device="there")).device == "there"

    def test_a_search_over_what_has_no_effect(self):
        found = GridSearchCV(small(), {"booster": ["gbtree"], "max_depth": [1, 2]}, cv=2).fit(X, Y)
        assert found.best_params_["booster"] == "gbtree"


class TestFit:
    def test_verbose(self, capsys):
        model = small().fit(X, Y, eval_set=[(X, Y)], verbose=False)
        assert capsys.readouterr().err == ""
        model.fit(X, Y, eval_set=[(X, Y)], verbose=2)
        assert len(capsys.readouterr().err.splitlines()) == 2
        assert model.verbose == 0
        loud = small(verbose=True).fit(X, Y, eval_set=[(X, Y)], verbose=False)
        assert capsys.readouterr().err == ""
        assert loud.verbose is True
        loud.fit(X, Y)
        assert len(capsys.readouterr().err.splitlines()) == 4
        NewtonBoostingRanker(n_estimators=1).fit(X, Y, verbose=True)
        assert len(capsys.readouterr().err.splitlines()) == 1
        with pytest.raises(ParameterError, match="verbose='loud'"):
            small().fit(X, Y, verbose="loud")

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (
                {"early_stopping_rounds": 5},
                r"Write NewtonBoostingClassifier\(early_stopping_rounds=5\)",
            ),
            ({"eval_metric": "auc"}, r"NewtonBoostingClassifier\(eval_metric='auc'\)"),
            ({"callbacks": []}, "belongs to the constructor"),
            ({"eval_names": ["a"]}, r"eval_set=\{"),
            ({"xgb_model": 1}, "Use 'init_model' instead"),
            ({"categorical_feature": [0]}, r"Write NewtonBoostingClassifier\(categorical_features=\[0\]\)"),
            ({"base_margin": 1}, "cannot be given by row"),
            ({"sample_weigth": 1}, "Did you mean 'sample_weight'"),
        ],
        ids=str,
    )
    def test_keywords(self, given, words):
        with pytest.raises(ParameterTypeError, match=rf"NewtonBoostingClassifier.fit\(\) has no parameter .*{words}"):
            small().fit(X, Y, **given)

    @pytest.mark.parametrize("kind", [k for k in KINDS if k is not BaggingClassifier])
    def test_of_every_estimator(self, kind):
        said = refusal(lambda: kind().fit(X, Y, eval_metric="auc"))
        assert said.startswith(f"{kind.__name__}.fit() has no parameter 'eval_metric'")
        assert "unexpected keyword" not in said
        model = kind().fit(X, Y)
        assert "has no parameter" in refusal(lambda: model.predict(X, iteration_range=(0, 3)))
        assert "has no parameter" in refusal(lambda: model.predict_proba(X, validate_features=True))

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("iteration_range", "'n_rounds'"),
            ("ntree_limit", "'n_rounds'"),
            ("raw_score", "'output_margin'"),
            ("pred_contribs", r"explain\.shap_values"),
            ("pred_leaf", "apply"),
        ],
    )
    def test_keywords_of_predict(self, name, words):
        model = small().fit(X, Y)
        with pytest.raises(ParameterTypeError, match=words):
            model.predict(X, **{name: 1})

    def test_warnings_still_point_to_the_caller(self):
        for model in (small(), RandomForestClassifier(5), AdaBoostClassifier(n_estimators=2), BaggingClassifier()):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, Y[:, None])
            assert {w.filename for w in caught} == {__file__}


class TestEvaluationSets:
    def test_names(self):
        sets = {"train": (X[:80], Y[:80]), "valid": (X[80:], Y[80:])}
        model = small().fit(X[:80], Y[:80], eval_set=sets)
        plain = small().fit(X[:80], Y[:80], eval_set=list(sets.values()))
        assert list(model.evals_result()) == ["train", "valid"]
        assert list(model.evals_result().values()) == list(plain.evals_result().values())
        assert model.best_iteration_ == plain.best_iteration_

    def test_one_pair(self):
        assert list(small().fit(X, Y, eval_set=(X, Y)).evals_result()) == ["validation_0"]

    def test_what_is_neither(self):
        with pytest.raises(InputError, match=r"eval_set\['a'\] is a ndarray, not a pair"):
            small().fit(X, Y, eval_set={"a": X})
        with pytest.raises(InputTypeError, match="eval_set has the name 1"):
            small().fit(X, Y, eval_set={1: (X, Y)})
        with pytest.raises(InputError, match=r"eval_set\['b'\]: y has the class 2"):
            small().fit(X, Y, eval_set={"b": (X, Y + 1)})


class TestOtherNames:
    @pytest.mark.parametrize("name", ["DMatrix", "train", "cv", "XGBClassifier", "LGBMRegressor"])
    def test_of_the_package(self, name):
        assert not hasattr(sw, name)
        assert "Use " in refusal(lambda: getattr(sw, name), AbsentNameError) or name == "DMatrix"
        with pytest.raises(AttributeError):
            getattr(sw, name)

    def test_of_models(self):
        model = small().fit(X, Y)
        for name in ("get_booster", "save_model", "booster_", "trees_to_dataframe"):
            assert not hasattr(model, name)
            assert "has no attribute" in refusal(lambda name=name: getattr(model, name), AbsentNameError)
        with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
            model.nothing  # noqa: B018
        with pytest.raises(sw.errors.NotFittedError):
            small().feature_importances_  # noqa: B018
        with pytest.raises(AttributeError, match="best_iteration_"):
            model.best_iteration  # noqa: B018

    def test_of_pictures_and_texts(self):
        forest = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0])
        assert "'most'" in refusal(lambda: plot_importance(forest, max_num_features=10))
        assert "'most'" in refusal(lambda: plot_shap_summary(None, max_display=10))
        assert "'tree'" in refusal(lambda: plot_tree(forest, num_trees=0))
        assert "savefig" in refusal(lambda: plot_tree(forest, save_path="x"))
        assert "Did you mean 'decimals'" in refusal(lambda: export_text(forest, decimal=1))
        assert "has no parameter 'colour'" in refusal(lambda: export_graphviz(forest, colour=1))
        assert "'path'" in refusal(lambda: interchange.to_python(forest, filename="x"))
        assert "has no parameter" in refusal(lambda: explain.shap_values(forest, X, approximate=True))
        assert "'metric'" in refusal(lambda: cross_validate_boosting(small(), X, Y, eval_metric="auc"))
        assert "has no parameter" in refusal(lambda: sw.save(forest, "x", compress=3))

    def test_an_output_of_another_type(self):
        why = explain.shap_values(small().fit(X, Y), X[:2])
        with pytest.raises(ParameterError, match=r"output='1' is not allowed: this is a str, .* a int. Use output=1"):
            why.for_output("1")


class TestConstraintsAsText:
    def test_they_are_read(self):
        given = {"monotone_constraints": "(1,0,-1)", "interaction_constraints": "[[0, 1], [2]]"}
        model = small(**given).fit(X, Y)
        plain = small(monotone_constraints=(1, 0, -1), interaction_constraints=[[0, 1], [2]]).fit(X, Y)
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
        assert repr(model.certify()) == repr(plain.certify())

    @pytest.mark.parametrize("text", ["1, x", "up", "", "7"])
    def test_or_refused(self, text):
        with pytest.raises(ParameterError, match=r"monotone_constraints=.*text such as"):
            small(monotone_constraints=text).fit(X, Y)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_depth": -1}, "Use max_depth=0 for no limit"),
        ({"early_stopping_rounds": 0}, "Use early_stopping_rounds=None"),
        ({"learning_rate": None}, "Leave out learning_rate to use its default"),
        ({"subsample": None}, "Leave out subsample to use its default"),
        ({"verbose": -1}, "Use verbose=0"),
    ],
    ids=str,
)
def test_values_that_mean_something_elsewhere(given, words):
    with pytest.raises(ParameterError, match=words):
        small(**given).fit(X, Y)


def test_constraints_to_certify_as_text():
    model = small(monotone_constraints="(1,0,-1)").fit(X, Y)
    assert repr(model.certify(monotone_constraints="(1,0,-1)")) == repr(model.certify())
    with pytest.raises(ParameterError, match="monotone_constraints='up' cannot be read as a list"):
        model.certify(monotone_constraints="up")
