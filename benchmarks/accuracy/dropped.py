"""Columns of the data sets that are not used, each with its reason, and text columns that hold dates."""

from __future__ import annotations

Reasons = dict[str, tuple[str, ...]]  # reason -> columns

_ID = "identifies the row"
_LEAK = "known only when the target is"
_SPLIT = "marks the source's own training and test rows"

DROPPED: dict[str, Reasons] = {
    "ames_raw": {_ID: ("Order", "PID")},
    "bank_marketing": {_LEAK: ("duration",)},
    "bike_hour": {
        "the target is their sum": ("casual", "registered"),
        _ID: ("instant",),
        "repeated by the columns of the calendar": ("dteday",),
    },
    "breast_cancer_wisconsin_original": {_ID: ("Sample code number",)},
    "compas": {
        _ID: ("id", "name", "first", "last", "c_case_number"),
        _LEAK: (
            *("is_recid", "violent_recid", "is_violent_recid", "event", "start", "end", "in_custody", "out_custody"),
            *("r_case_number", "r_charge_degree", "r_days_from_arrest", "r_offense_date", "r_charge_desc"),
            *("r_jail_in", "r_jail_out"),
            *("vr_case_number", "vr_charge_degree", "vr_offense_date", "vr_charge_desc"),
        ),
        "copy of another column": ("decile_score.1", "priors_count.1", "screening_date", "v_screening_date"),
    },
    "credit_default": {_ID: ("ID",)},
    "dataCar": {"another target; the target is numclaims > 0": ("numclaims", "claimcst0")},
    "grants": {_SPLIT: ("part",)},
    "house_prices": {_ID: ("Id",)},
    "nycflights13": {_LEAK: ("dep_time", "arr_time", "air_time")},
    "spam_esl": {_SPLIT: ("test",)},
    "splice": {_ID: ("Instance_name",)},
    "telco_churn": {_ID: ("customerID",)},
    "titanic": {_ID: ("PassengerId", "Name", "Ticket")},
    "vowel": {_SPLIT: ("Train or Test",)},
}

DATES: dict[str, tuple[str, ...]] = {  # text in the file; read as dates for every library
    "compas": ("compas_screening_date", "dob", "c_jail_in", "c_jail_out", "c_offense_date", "c_arrest_date"),
    "cylinder_bands": ("timestamp",),
    "nycflights13": ("time_hour",),
}


def dropped_columns(name: str) -> list[str]:
    """All columns of a set that are not used."""
    return [column for columns in DROPPED.get(name, {}).values() for column in columns]
