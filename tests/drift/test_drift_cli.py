"""The command line: `sapwood check`, and notes of `predict` and `evaluate`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drifted import churn, customers, drifted
from typer.testing import CliRunner

import sapwood as sw
from sapwood.cli.app import app

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drift")
    trained, new = customers(), customers(80, seed=1)
    model = sw.NewtonBoostingClassifier(n_estimators=3).fit(trained, churn(trained))
    sw.save(model, folder / "model.sapwood")
    new.assign(churn=churn(new)).to_csv(folder / "same.csv", index=False)
    other = drifted(new)
    other.assign(churn=churn(new)).to_csv(folder / "other.csv", index=False)
    return folder


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_check_tells_what_changed_by_its_exit_code(folder: Path) -> None:
    code, out, _ = run("check", folder / "model.sapwood", "--input", folder / "same.csv")
    assert code == 0
    assert "nothing is conspicuous" in out
    code, out, _ = run("check", folder / "model.sapwood", "--input", folder / "other.csv")
    assert code == 1
    assert "3 of 6 columns are conspicuous" in out
    assert "0 … 72 → 9999 … 9999" in out


def test_check_names_what_is_missing(folder: Path) -> None:
    code, _, err = run("check", folder / "model.sapwood", "--input", folder / "other.csv", "--drop", "tenure")
    assert code == 1
    assert "tenure" in err
    code, _, err = run("check", folder / "no.sapwood", "--input", folder / "other.csv")
    assert code == 1
    assert "There is no file" in err


def test_predict_and_evaluate_note_it_once(folder: Path, tmp_path: Path) -> None:
    for command in (
        ("predict", "--model", folder / "model.sapwood", "--out", tmp_path / "said.csv", "--input"),
        ("evaluate", "--model", folder / "model.sapwood", "--target", "churn", "--test"),
    ):
        code, _, err = run(*command, folder / "other.csv")
        assert code == 0, err
        assert err.count("Note: The rows are not like the training data") == 1
        assert "'tenure'" in err
        assert "DataDriftWarning" not in err
        code, _, err = run(*command, folder / "same.csv")
        assert code == 0
        assert "Note" not in err


@pytest.mark.skipif("SAPWOOD_DATA" not in os.environ, reason="the real data sets are not here")
def test_the_churn_table_of_telco() -> None:
    frame = pd.read_parquet(Path(os.environ["SAPWOOD_DATA"]) / "telco_churn.parquet")
    X, y = frame.drop(columns="Churn"), frame["Churn"]
    is_test = np.arange(len(X)) % 5 == 0
    model = sw.NewtonBoostingClassifier(n_estimators=3).fit(X[~is_test], y[~is_test])
    new = X[is_test]
    model.predict(new)  # pytest makes a warning of it an error
    assert not model.schema_.compare(new).is_conspicuous
    with pytest.warns(sw.errors.DataDriftWarning, match=r"tenure.*Contract.*MonthlyCharges"):
        model.predict(new.assign(Contract="weekly", tenure=9999, MonthlyCharges=np.nan))
