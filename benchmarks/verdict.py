"""Whether Sapwood was as fast and as good in a case as it should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from boosting_cases import Case
from contender import Quality

SW, HB = "sapwood", "hessboost"


@dataclass(frozen=True)
class Verdict:
    """Times and qualities of all libraries next to the bars of the case."""

    case: Case
    seconds: Mapping[str, float]
    quality: Mapping[str, Quality]
    others: float  # cores that other programs kept busy meanwhile

    @property
    def fastest(self) -> str | None:
        """The library to beat; hessboost has a bar of its own."""
        rivals = [key for key in self.seconds if key not in {SW, HB}]
        return min(rivals, key=self.seconds.__getitem__, default=None)

    def ratio(self, key: str, rival: str | None) -> float | None:
        """Time of one library over that of another, if both ran."""
        if rival is None or not {key, rival} <= set(self.seconds):
            return None
        return self.seconds[key] / self.seconds[rival]

    def lines(self) -> Iterator[tuple[str, bool | None]]:
        """Every bar in words, and whether it is met; None without Sapwood's figure."""
        yield from self._time_line(self.fastest, self.case.bar)
        if self.case.hessboost_bar is not None:
            yield from self._time_line(HB, self.case.hessboost_bar)
        yield from self._quality_line()

    @property
    def is_met(self) -> bool | None:
        answers = [answer for _, answer in self.lines()]
        return None if None in answers or not answers else all(answers)

    def _time_line(self, rival: str | None, bar: float) -> Iterator[tuple[str, bool | None]]:
        if rival is None or rival not in self.seconds:
            return
        text = f"at most {bar:g} of the time of {rival}, so {bar * self.seconds[rival]:.3f} s"
        ratio = self.ratio(SW, rival)
        yield (text, None) if ratio is None else (f"{text}; Sapwood's share is {ratio:.3f}", ratio <= bar)

    def _quality_line(self) -> Iterator[tuple[str, bool | None]]:
        judges = self.case.judges or [key for key in self.quality if key != SW]
        hits = {key: self.quality[key].hits for key in judges if key in self.quality}
        if self.case.slack is None or not hits:
            return
        best = max(hits, key=hits.__getitem__)
        text = f"AUC of at least {hits[best]:.5f} ({best}) - {self.case.slack:g}"
        if SW not in self.quality:
            yield text, None
            return
        ours = self.quality[SW].hits
        yield f"{text}; Sapwood's is {ours:.5f}", ours >= hits[best] - self.case.slack
