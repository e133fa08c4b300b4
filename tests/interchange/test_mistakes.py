"""Mistakes with interchange that a new user makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model_cases import fitted
from sapwood import interchange
from sapwood.errors import ModelFileError, NotFittedError, ParameterError, ParameterTypeError

EXPORTS = [interchange.to_c, interchange.to_python, interchange.to_sql, interchange.to_xgboost]


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.__name__)
def test_paths_that_cannot_be_written_are_named(export: Any, tmp_path: Path) -> None:
    path = tmp_path / "no folder" / "model.json"
    with pytest.raises(ModelFileError, match=r"path='.*no folder/model.json' cannot be written: No such file"):
        export(fitted("newton numbers"), path)
    with pytest.raises((ParameterTypeError, ParameterError), match=r"path='?3"):
        export(fitted("newton numbers"), 3)


def test_models_that_were_not_fitted() -> None:
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    with pytest.raises(NotFittedError, match="XGBClassifier is not fitted yet"):
        interchange.from_xgboost(xgboost.XGBClassifier())
    with pytest.raises(NotFittedError, match="LGBMRegressor is not fitted yet"):
        interchange.from_lightgbm(lightgbm.LGBMRegressor())
