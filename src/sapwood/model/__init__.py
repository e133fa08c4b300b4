"""A fitted model, apart from the estimator that trained it."""

from sapwood.model.model import Model, model_of
from sapwood.model.response import Response

__all__ = ["Model", "Response", "model_of"]
