"""Same data, parameters and seed, same model: every bit of it, from one commit to the next."""

from __future__ import annotations

import pytest
from fingerprint_cases import CASES
from fingerprint_record import COMMAND, recorded

from sapwood import fingerprint
from sapwood.estimators.model_file import ESTIMATORS

RECORDED = recorded()


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_the_recorded_one(name: str) -> None:
    known = RECORDED.get(name, {})
    assert fingerprint(CASES[name].fit()) == known.get("fingerprint"), (
        f"{name} has another fingerprint than the recorded one ({known.get('note', 'no note')}). If this is meant, say "
        f"so in CHANGELOG.md under 'Same seed, different model' and run {COMMAND}"
    )


def test_all_cases_are_recorded_and_no_others() -> None:
    assert list(RECORDED) == list(CASES), f"Run {COMMAND}"


def test_every_estimator_has_cases() -> None:
    assert {case.estimator for case in CASES.values()} == set(ESTIMATORS)


@pytest.mark.parametrize("name", list(CASES)[::12])
def test_the_number_of_threads_does_not_matter(name: str) -> None:
    assert fingerprint(CASES[name].fit(n_jobs=1)) == RECORDED[name]["fingerprint"]
