"""The report: ranks, one library against the others, strata, failures, and losses by set."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.stats import rankdata
from text import Table

from accuracy.comparison import Comparison, compare
from accuracy.losses import NEARLY_SOLVED, Losses
from accuracy.sets import FEW_ROWS, TASKS

STRATA_AGAINST = ("catboost", "lightgbm")


def print_report(losses: Losses, of: str, against: list[str] | None, with_sets: bool) -> None:
    """All tables; `against` restricts the libraries that the first one is compared with."""
    if not losses.libraries:
        print("No results yet.")
        return
    _print_ranks(losses)
    if of in losses.libraries:
        rivals = [each for each in losses.libraries if each != of and (not against or each in against)]
        _print_pairs(losses, of, rivals)
        _print_strata(losses, of, [each for each in against or STRATA_AGAINST if each in rivals])
    if with_sets:
        _print_sets(losses)
    _print_errors(losses)


def _print_ranks(losses: Losses) -> None:
    finished = losses.finished()
    solved = [name for name in losses.sets if losses.is_nearly_solved(name)]
    ranks = _ranks(losses, finished, [name for name in losses.sets if name not in solved])
    table = Table("library version mean_rank best_on sets failed fit_s")
    for library in sorted(losses.libraries, key=lambda each: ranks.get(each, math.inf)):
        found = losses.loss[library]
        table.add(
            library,
            losses.versions[library],
            f"{ranks[library]:.2f}" if library in ranks else "unfinished",
            sum(loss == losses.best(name) for name, loss in found.items()),
            len(found),
            sum(math.isinf(loss) for loss in found.values()),
            f"{np.nansum(list(losses.seconds[library].values())):.1f}",
        )
    table.print(f"Mean rank over {len(losses.sets) - len(solved)} sets, of the {len(finished)} libraries with all sets")
    print(
        f"  nearly solved (a log loss below {NEARLY_SOLVED}), without ranks and medians: {', '.join(solved) or 'none'}"
    )


def _ranks(losses: Losses, libraries: list[str], sets: list[str]) -> dict[str, float]:
    if not libraries or not sets:
        return {}
    by_set = [rankdata([losses.loss[library][name] for library in libraries]) for name in sets]
    return dict(zip(libraries, np.mean(by_set, axis=0), strict=True))


def _print_pairs(losses: Losses, of: str, rivals: list[str]) -> None:
    table = Table("against sets wins losses median_ln_ratio p fit_s theirs_s ratio worst_set its_ln_ratio")
    for rival in rivals:
        found = compare(losses, of, rival)
        name, worst = found.worst
        table.add(
            *(rival, len(found.ratios), found.wins, found.losses, _signed(found.median), f"{found.p_value:.2g}"),
            *(f"{found.seconds:.1f}", f"{found.other_seconds:.1f}", f"{_share(found):.2f}", name, _signed(worst)),
        )
    table.print(f"{of} against each (below 0: {of} is better; seconds are one fit for each set)")


def _share(found: Comparison) -> float:
    return found.seconds / found.other_seconds if found.other_seconds else math.nan


def _signed(ratio: float) -> str:
    return "" if math.isnan(ratio) else f"{ratio:+.4f}"


def _print_strata(losses: Losses, of: str, rivals: list[str]) -> None:
    columns = " ".join(f"{rival}_n {rival}_wins {rival}_median" for rival in rivals)
    table = Table(f"target training_rows {columns}")
    for task, size, names in _strata(losses):
        found = [compare(losses, of, rival, names) for rival in rivals]
        cells = [cell for each in found for cell in (len(each.ratios), each.wins, _signed(each.median))]
        if names:
            table.add(task, size, *cells)
    if rivals:
        table.print(f"{of} by stratum: sets, wins, median of the logarithm of the ratio")


def _strata(losses: Losses) -> Iterator[tuple[str, str, set[str]]]:
    sizes = {False: f"≥ {FEW_ROWS}", True: f"< {FEW_ROWS}"}
    for task in TASKS:
        for is_small, size in sizes.items():
            facts = losses.facts.items()
            yield task, size, {n for n, f in facts if f["task"] == task and (f["rows"] < FEW_ROWS) == is_small}


def _print_sets(losses: Losses) -> None:
    table = Table(f"set target rows columns {' '.join(losses.libraries)}")
    for name in sorted(losses.sets, key=lambda each: (losses.facts[each]["task"], each)):
        facts = losses.facts[name]
        cells = [f"{losses.loss[library].get(name, math.nan):.5g}" for library in losses.libraries]
        table.add(name, facts["task"], facts["rows"], facts["columns"], *cells)
    table.print("Losses: log loss for classes, root mean squared error for numbers")


def _print_errors(losses: Losses) -> None:
    if losses.errors:
        print(f"\n{len(losses.errors)} fits failed; they count as lost:")
    for record in losses.errors:
        print(f"  {record['library']} {record['version']}, {record['set']}, seed {record['seed']}: {record['error']}")
