"""XGBoost's parameters that have no effect here, and the values of them that are accepted."""

from __future__ import annotations

from sapwood.parameters import Flag, Interval, NotANumber, Nothing, OneOf, Rule

WITHOUT_EFFECT: dict[str, tuple[Rule, ...]] = {
    "booster": (OneOf("gbtree", remedy="Leave out booster: the boosters are trees."), Nothing()),
    "device": (OneOf("cpu", remedy="Leave out device: everything runs on the processor."), Nothing()),
    "enable_categorical": (Flag(), Nothing()),
    "missing": (NotANumber(remedy="Replace other markers of missing values by NaN first."), Nothing()),
    "num_parallel_tree": (Interval(int, 1, 1), Nothing(remedy="For forests, use RandomForestClassifier and others.")),
    "use_label_encoder": (Flag(), Nothing()),
    "validate_parameters": (Flag(), Nothing()),
    "verbosity": (Interval(int, 0, 3), Nothing()),
}
"""XGBoost's parameters that are taken and dropped: their other values have no counterpart."""
