"""From rows to leaves and scores."""

from sapwood.predictor.descent import BLOCK_ROWS, Descent, Predictor, find, paths
from sapwood.predictor.scorer import Scorer

__all__ = ["BLOCK_ROWS", "Descent", "Predictor", "Scorer", "find", "paths"]
