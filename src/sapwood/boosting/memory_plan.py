"""How much memory a training takes, and which of its arrays are to be on disk so that it takes no more than it may."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from sapwood.boosting.recipe import MOST_ROWS
from sapwood.codes.binned import SAMPLE
from sapwood.counted import counted
from sapwood.errors import ParameterError
from sapwood.memory_size import written_size
from sapwood.result import Part, Result
from sapwood.shard.gradient_units import PACKED_ROWS

BASE = 48 << 20  # what reading and growing take in any case
BLOCK_SHARE = 16  # a block has at most this part of the memory
MOST_BLOCK_ROWS, LEAST_BLOCK_ROWS = 1 << 20, 1 << 12
COPIES_WHILE_CODING = 3  # copies of a block while it is coded
READ_AHEAD = 3  # batches of a source that are in memory at a time
LARGEST_POOL = 1 << 29  # bytes of histograms of trees in memory that grow branch by branch


class Keep(Enum):
    """Where the arrays of a training are."""

    MEMORY = "codes and row state in memory"
    CODES_ON_DISK = "codes on disk, row state in memory"
    ALL_ON_DISK = "codes and row state on disk"


@dataclass(frozen=True)
class TrainingSize:
    """What memory depends on."""

    n_rows: int
    n_features: int
    row_width: int  # bytes of a row of codes, row by row
    n_scores: int
    n_cells: int  # of a histogram, two or three numbers each
    most_nodes: int  # of a tree that may be split at a time
    n_rounds: int
    n_splits: int  # levels of a tree, or splits of one that grows leaf by leaf
    weighted: bool = False
    share: float = 1.0  # of the rows that a tree is grown on
    short: bool = False  # derivatives are 32-bit floats
    counts_rows: bool = False
    one_tree: bool = False
    batch_bytes: int = 0  # of the source
    source_bytes: int = 0  # all of its files, 0 if that is unknown
    validation_bytes: int = 0  # of validation sets that are read from sources
    is_coded: bool = False  # the source is a code file
    held_out: float = 0.0  # share of the rows that validate and do not train
    by_gradient: bool = False  # samples are drawn by the size of derivatives
    class_weighted: bool = False
    has_queries: bool = False
    limits_leaves: bool = True  # if not, trees in memory grow branch by branch

    @property
    def codes(self) -> int:
        """Bytes of all codes."""
        return self.n_rows * (self.n_features + self.row_width)

    @property
    def _derivatives(self) -> int:
        """Bytes of gradient and hessian."""
        return 2 * (4 if self.short else 8)

    def state(self, keep: Keep) -> int:
        """Bytes of target, weights, queries, scores, derivatives, records and leaves of all rows, where `keep` says."""
        records = 8 if keep is Keep.CODES_ON_DISK else 16  # blocks share a spare one, but files have room for it
        of_row = 8 + (8 + self._derivatives) * self.n_scores + records + 2
        is_packed = self.n_grown >= PACKED_ROWS and not self.counts_rows
        of_row += 0 if is_packed and keep is not Keep.ALL_ON_DISK else 16  # outliers are not packed, and may come later
        return self.n_rows * (of_row + 8 * self.weighted + 8 * self.has_queries)

    @property
    def in_memory(self) -> int:
        """Bytes of rows of samples and of validation, of mixtures and of weights made here: never on disk."""
        of_row = 8 * self.share * (self.share < 1.0) + 16 * self.by_gradient + self._derivatives * self.one_tree
        of_row += 8 * (2 - self.weighted) * self.class_weighted
        if self.held_out:  # numbers and weights of rows that train, and those of each shard
            of_row += 2 * (8 + 16) + self.held_out * 8 * (2 + self.n_scores)
        return int(self.n_rows * of_row)

    @property
    def n_grown(self) -> int:
        """Rows that a tree is grown on."""
        return int(self.n_rows * (1.0 - self.held_out) * self.share)

    @property
    def sample(self) -> int:
        """Bytes of a copy of what a tree of a sample reads: codes, records and derivatives."""
        of_row = self.n_features + self.row_width + 16 + self._derivatives
        return int(1.02 * self.share * self.n_rows * of_row) if self.share < 1.0 else 0

    @property
    def n_trees(self) -> int:
        """Trees of a round."""
        return 1 if self.one_tree else self.n_scores

    def histograms(self, keep: Keep) -> int:
        """Bytes of those that are open at a time."""
        most = 3 * self.most_nodes * self.n_cells * 8 * (3 if self.counts_rows else 2)
        return most if self.limits_leaves or keep is not Keep.MEMORY else min(most, LARGEST_POOL)

    def is_table(self, keep: Keep) -> bool:
        """Whether all cells are kept, as those of few rows are."""
        return keep is Keep.MEMORY and not self.is_coded and self.n_rows < MOST_ROWS

    def block_rows(self, limit: int) -> int:
        """Rows of a block on disk."""
        of_row = self.n_features + self.row_width + 32
        return max(LEAST_BLOCK_ROWS, min(MOST_BLOCK_ROWS, limit // BLOCK_SHARE // of_row))

    def needed(self, keep: Keep, limit: int) -> int:
        """Bytes of memory: reading is over before training begins."""
        block = min(self.n_rows, self.block_rows(limit)) * (self.n_features + self.row_width + 32)
        reading = min(self.n_rows, SAMPLE) * self.n_features * 8 + READ_AHEAD * self.batch_bytes
        reading = 0 if self.is_coded else reading + COPIES_WHILE_CODING * block
        training = self.histograms(keep) + self.in_memory + (self.codes if keep is Keep.MEMORY else block)
        training += 8 * self.n_rows * self.n_features if self.is_table(keep) else 0
        training += self.state(keep) + self.validation_bytes if keep is not Keep.ALL_ON_DISK else 0
        return BASE + max(reading, training)

    def least(self) -> int:
        """The least memory with which training is possible; larger blocks are read if there is more."""
        least, before = self.needed(Keep.ALL_ON_DISK, 0), 0
        while least > before:
            before, least = least, self.needed(Keep.ALL_ON_DISK, least)
        return least


@dataclass(frozen=True, eq=False, repr=False)
class TrainingPlan(Result):
    """Where the arrays of a training will be, and what it will take.

    | name | meaning |
    |---|---|
    | keep | which arrays are on disk |
    | memory, limit | bytes of memory that it takes, and that it may take |
    | memory_by_part | the same by part |
    | disk | bytes of scratch files |
    | block_rows, n_blocks | rows of a block on disk, and how many there are |
    | passes | times that codes are read for a tree |
    | bytes_read | bytes of codes that are read for a tree |
    | seconds_per_tree | about how long a tree takes, from and to |
    """

    size: TrainingSize
    keep: Keep
    limit: int
    source: str = ""

    @property
    def memory(self) -> int:
        """Bytes of memory."""
        return self.size.needed(self.keep, self.limit)

    @property
    def copies_samples(self) -> bool:
        """Whether samples are copied to memory, so that blocks are read once for a tree, and not once for a level."""
        return self.keep is not Keep.MEMORY and 0 < self.size.sample <= self.limit - self.memory

    @property
    def is_table(self) -> bool:
        """Whether all cells are kept, and nothing is written."""
        return self.size.is_table(self.keep)

    @property
    def block_rows(self) -> int:
        """Rows of a block."""
        return min(self.size.n_rows, self.size.block_rows(self.limit))

    @property
    def n_blocks(self) -> int:
        """Blocks on disk."""
        return -(-self.size.n_rows // self.block_rows)

    @property
    def memory_by_part(self) -> dict[str, int]:
        """Bytes of memory by what they hold."""
        in_memory = self.keep is not Keep.ALL_ON_DISK
        parts = {
            "codes": self.size.codes if self.keep is Keep.MEMORY else 0,
            "row state": self.size.state(self.keep) if in_memory else 0,
            "validation sets": self.size.validation_bytes if in_memory else 0,
            "samples and weights": self.size.in_memory,
            "histograms": self.size.histograms(self.keep),
        }
        return parts | {"blocks, reading and all else": self.memory - sum(parts.values())}

    @property
    def disk(self) -> int:
        """Bytes of scratch files."""
        size, all_on_disk = self.size, self.keep is Keep.ALL_ON_DISK
        others = 8 * size.n_rows * (1 + size.weighted + size.has_queries)
        codes = 0 if size.is_coded or self.is_table else size.codes + others
        return codes + (size.state(self.keep) + size.validation_bytes if all_on_disk else 0)

    @property
    def passes(self) -> int:
        """Times that codes are read for a tree, once more to find leaves of rows that it is not grown on."""
        finds_rest = self.size.share < 1.0 or self.size.held_out > 0.0
        return (1 if self.copies_samples else 1 + self.size.n_splits) + finds_rest

    @property
    def bytes_read(self) -> int:
        """Bytes of codes that are read for a tree: by row for histograms, a column for each split."""
        rows = self.size.n_rows * self.size.row_width * self._levels / 2
        return int(rows + self.size.n_rows * (self._levels - 1))

    @property
    def _levels(self) -> int:
        """Times that every row is worked on for a tree; a tree that grows leaf by leaf reads a block for a few rows."""
        return min(self.passes, 2 + (self.size.most_nodes - 1).bit_length())

    @property
    def seconds_per_tree(self) -> tuple[float, float]:
        """About how long a tree takes where files are in the system's cache, and where they are read at 1 GB/s."""
        cells = self.size.n_rows * self.size.n_features * self._levels / 2
        least = cells * 0.5e-9 + self.size.n_rows * self._levels * 4e-9
        slow = self.bytes_read / 1e9 if self.keep is not Keep.MEMORY else 0.0
        return least, 2.0 * least + slow

    def _parts(self) -> Iterator[Part]:
        size, own = self.size, self.memory_by_part
        of = f" of {self.source}" if self.source else ""
        files = f", {written_size(size.source_bytes)}" if size.source_bytes else ""
        times = "" if size.is_coded else ", read twice"
        yield f"{size.n_rows:,} rows x {size.n_features} columns{of}{files}{times}"
        listed = ", ".join(f"{name} {written_size(n_bytes)}" for name, n_bytes in own.items() if n_bytes)
        yield f"{self.keep.value}: {written_size(self.memory)} of {written_size(self.limit)} of memory ({listed})"
        if self.copies_samples:
            yield f"{written_size(self.size.sample)} more for a copy of each sample"
        if self.disk:
            yield f"{written_size(self.disk)} of scratch files, in blocks of {self.block_rows:,} rows"
        low, high = self.seconds_per_tree
        yield (
            f"each tree: {self.passes} passes, {written_size(self.bytes_read)} of codes read, about {low:.2g} to "
            f"{high:.2g} s; {counted(size.n_rounds * size.n_trees, 'tree')}"
        )
        yield "The model is bit for bit the one that training in memory gives."


def plan_for(size: TrainingSize, limit: int, source: str = "") -> TrainingPlan:
    """The fastest way to train that takes no more memory than it may; an error if there is none."""
    for keep in Keep:
        if size.needed(keep, limit) <= limit:
            return TrainingPlan(size, keep, limit, source)
    least = size.least()
    raise ParameterError(
        f"max_memory={written_size(limit)} is too little: {size.n_rows:,} rows of {size.n_features} columns need at "
        f"least {written_size(least)}, even with codes and row state on disk. Allow more, or use smaller trees."
    )
