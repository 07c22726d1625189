"""The compiled core. Arguments are checked by the modules that call it."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EMPTY_VALUES",
    "KERNELS",
    "MAX_RATIO",
    "POLICY",
    "RATIO_FROM",
    "SHARES",
    "BatchBuilder",
    "BatchIds",
    "ClusterSums",
    "Column",
    "Evaluation",
    "EventBatch",
    "EventDecoder",
    "IdSet",
    "Items",
    "Judgments",
    "LabelBlock",
    "Lines",
    "Plan",
    "QueryCounts",
    "RankingBlock",
    "Rankings",
    "Reassignments",
    "Run",
    "RunParts",
    "RunText",
    "Settled",
    "SliceQueries",
    "Summary",
    "TableStream",
    "TextCodes",
    "__version__",
    "add_sums",
    "audit_ties",
    "average_units",
    "bound",
    "bound_below",
    "bound_difference",
    "bounded_tails",
    "bounded_units_needed",
    "choose_sums",
    "compare_rankings",
    "count_flips",
    "decode_columns",
    "decode_label_columns",
    "estimate_mean",
    "evaluate_dict",
    "evaluate_items",
    "evaluate_part",
    "evaluate_run",
    "evaluate_samples",
    "find_regrets",
    "fsum",
    "fuse_runs",
    "grade_items",
    "hash_column",
    "hash_ids",
    "hash_other_ids",
    "hash_texts",
    "invert_flips",
    "join_labels",
    "log2",
    "mean_of_rows",
    "measure_costs",
    "noncentral_t_lower",
    "normal_tails",
    "order_texts",
    "restore_evaluation",
    "restore_judgments",
    "restore_rankings",
    "restore_summary",
    "round_sums",
    "split_json",
    "student_tails",
    "sum_cells",
    "sum_groups",
    "summarize",
    "summarize_groups",
    "t_quantile",
    "values_of_rows",
]

__version__: str
KERNELS: tuple[str, ...]
# By field of the policy, the sentence that each word means; the default word comes first.
POLICY: Mapping[str, Mapping[str, str]]
# The values of undefined queries by the words of `empty` that have one.
EMPTY_VALUES: Mapping[str, float]
# The words of `aggregate` that need a share of the queries.
SHARES: tuple[str, ...]
# Unpacked text beyond this many bytes must not be more than `MAX_RATIO` times its packed form.
RATIO_FROM: int
MAX_RATIO: int

_Source: TypeAlias = str | bytes | PathLike[str] | None
# Value, lower and upper; method and reason; values, independent units and effective sample size.
_Estimate: TypeAlias = tuple[tuple[float, float, float], tuple[str, str], tuple[int, int, float]]
_Progress: TypeAlias = Callable[[int], None] | None
# Integers, or the offsets of texts and the texts end to end.
_TextView: TypeAlias = tuple[NDArray[np.int64] | NDArray[np.int32], NDArray[np.uint8]]
_IdColumn: TypeAlias = NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.uint8]]
_IdView: TypeAlias = _IdColumn | list[_TextView]
# Read as float64, which holds them exactly.
_Numbers: TypeAlias = (
    NDArray[np.float64] | NDArray[np.float32] | NDArray[np.int64] | NDArray[np.int32]
)
# Where the entries of each column start, their units, and their effects.
_Effects: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
# The units of queries, their residuals, and the codes of each attribute.
_SliceColumns: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.float64], Sequence[NDArray[np.int32]]
]
# Queries, or which of them each row has, and each once; documents, grades, scores, whether they are
# ranks below zero, ranks, attributes.
_TableColumns: TypeAlias = tuple[
    _IdColumn | tuple[NDArray[np.int32], _IdColumn],
    _IdColumn | None,
    _Numbers,
    _Numbers,
    bool,
    _Numbers | None,
    list[tuple[str, _IdColumn]],
]
# Queries, documents, scores, and whether these are ranks below zero.
_RunColumns: TypeAlias = tuple[_IdView, _IdView, _Numbers, bool, _Numbers | None]
_Notes: TypeAlias = list[tuple[str, int, int]]
_Fusion: TypeAlias = tuple[tuple[str, float], str, Sequence[float], str, int | None]
# The objects that are plain, the places of the others, and what is to be said: codes of notes,
# names of unknown fields, and the number of objects.
_Decoded: TypeAlias = tuple[
    EventBatch, list[int], list[tuple[tuple[str, ...], tuple[str, ...], int]]
]

# Offsets of texts, and the texts end to end.
_Texts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8]]
# Of rankings: offsets, IDs of documents, ranks, scores and grades.
_Items: TypeAlias = tuple[
    NDArray[np.int64], _Texts, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]
]
# Of labels: positions of rankings, IDs of documents, times, kinds, classes by code, codes and
# values.
_Labels: TypeAlias = tuple[
    NDArray[np.int64],
    _Texts,
    NDArray[np.int64],
    NDArray[np.int8],
    list[list[int]],
    NDArray[np.int64],
    NDArray[np.float64],
]
# Weights of classes and of others, whether they are added, whether each class counts once, the
# grade of what is unlabelled, and the length of the window with the current time.
_Rule: TypeAlias = tuple[list[float], bool, bool, float, tuple[int, int] | None]
# A plan, the largest grade, and the depth of logged ranks.
_Choices: TypeAlias = tuple[Plan, float, int]
# The values of measures; how many documents are relevant, and whether rankings have ties, gaps in
# their ranks, and grades that are too large.
_LoggedValues: TypeAlias = tuple[list[Column], tuple[Column, Column, Column, Column]]

@final
class BatchBuilder:
    """Makes a batch of events that were read in Python."""

    def __new__(cls) -> Self: ...
    def add_ranking(
        self,
        event_id: str,
        ranking_id: str,
        time: int,
        query_key: str,
        user_id: str,
        model: str,
        version: str,
        environment: str,
        attributes: Sequence[tuple[str, str]],
        doc_ids: Sequence[str],
        ranks: Sequence[int],
        scores: Sequence[float | None],
        relevance: Sequence[float | None],
    ) -> None: ...
    def add_label(
        self,
        event_id: str,
        ranking_id: str,
        doc_id: str,
        time: int,
        labels: Sequence[str],
        value: float | None,
        kind: str,
    ) -> None: ...
    def end_object(self) -> None:
        """End an object, to which all events since the last one belong."""

    def finish(self) -> EventBatch: ...

@final
class BatchIds:
    """The keys of the ids of a batch in a project."""

    def highs(self) -> list[int]:
        """Return the higher halves of all keys."""

    def more_highs(self, known: Sequence[tuple[Any, ...]]) -> list[int]:
        """Return the higher halves of further keys, by the rows that are known by the first."""

    def settle(self, known: Sequence[tuple[Any, ...]], first: int) -> Settled:
        """Tell which events are new, and give them numbers from the first on."""

@final
class ClusterSums:
    def __new__(cls, measures: int) -> ClusterSums: ...
    def take(
        self,
        cells: NDArray[np.int64],
        names: Sequence[_Texts],
        values: Sequence[NDArray[np.float64]],
    ) -> None: ...
    def close(self, cell: int) -> list[tuple[float, float, float, float]]: ...

@final
class Column:
    """Numbers in the core's memory, read through the buffer protocol as bytes."""

    @property
    def typecode(self) -> str:
        """The code of its numbers, as in the module `array`."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

# Offsets of texts, the texts end to end, and whether each is there, empty where all are.
_EventTexts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]
# Times as texts, in microseconds (true) or milliseconds, or in milliseconds with a fraction.
_EventTimes: TypeAlias = _EventTexts | tuple[bool, NDArray[np.int64]] | NDArray[np.float64]
# Bounds of rankings, which may be plain, times, ids, the texts of their heads, attributes by name
# or maps, and which rows unknown columns have.
_Heads: TypeAlias = tuple[
    NDArray[np.int64],
    NDArray[np.uint8],
    _EventTimes,
    _EventTexts,
    Sequence[_EventTexts | None],
    Sequence[tuple[str, _EventTexts] | tuple[NDArray[np.int64], _EventTexts, _EventTexts]],
    Sequence[tuple[str, NDArray[np.uint8]]],
]
# Ids and whether they are integers, ranks, scores, grades, and whether scores order the documents.
_Documents: TypeAlias = tuple[
    _EventTexts,
    bool,
    NDArray[np.int64] | None,
    NDArray[np.float64] | None,
    NDArray[np.float64] | None,
    bool,
]
# Which labels may be plain, times, rankings, documents, ids of events, kinds, labels (one a row, or
# the bounds of lists, which rows have one, and all of them), grades, and which rows unknown columns
# have.
_LabelColumns: TypeAlias = tuple[
    NDArray[np.uint8],
    _EventTimes,
    _EventTexts,
    _EventTexts,
    _EventTexts | None,
    _EventTexts | None,
    _EventTexts | tuple[NDArray[np.int64], NDArray[np.uint8], _EventTexts] | None,
    NDArray[np.float64] | None,
    Sequence[tuple[str, NDArray[np.uint8]]],
]

@final
class EventBatch:
    """Events of some objects, as columns; pickled, it is one piece of bytes."""

    def __new__(cls, bytes: bytes) -> Self: ...  # noqa: A002 - as in the core
    def __len__(self) -> int: ...
    @property
    def objects(self) -> int: ...
    def ranking_ids(self) -> tuple[Column, Column]:
        """Return where the ids of its rankings begin, and their texts."""

    @staticmethod
    def join(parts: Sequence[EventBatch]) -> EventBatch:
        """Put batches one after another."""

    def merge(self, others: EventBatch, places: Sequence[int]) -> EventBatch:
        """Put the objects of others at some places, which ascend, between those of this batch."""

    def cut(self, start: int, end: int) -> EventBatch:
        """Take the events from one place to before another, as one object."""

    def tell(self, statuses: bytes) -> bytes:
        """Tell what became of objects by what became of their events, by places in `STATUSES`."""

    def digest(self, at: int) -> bytes:
        """Return the 16 bytes that identify what an event says."""

    def event_id(self, at: int) -> str: ...
    def first_labels(self, most: int) -> list[tuple[str, str]]:
        """Return the rankings and documents of the first labels."""

    def count_labels(self) -> list[tuple[str, int]]:
        """Count labels by their lists of names, as JSON."""

    def count_attributes(self) -> list[tuple[tuple[tuple[str, str], ...], int]]:
        """Count rankings of production by their attributes, which may come more than once."""

    def hash_ids(self, project: int) -> BatchIds: ...

@final
class EventDecoder:
    """Decodes texts of JSON as events.

    Args:
        names: Names and roles of the fields of rankings (two tables), of documents, of labels, and
            of lists of documents.
        limits: The numbers of `Limits` up to the depth.
        moved: The fields of rankings that are attributes.
    """

    def __new__(
        cls,
        names: Sequence[Sequence[tuple[str, str]]],
        limits: Sequence[int],
        moved: Sequence[str],
    ) -> Self: ...
    def read_rankings(self, texts: Sequence[bytes], span: tuple[int, int]) -> _Decoded:
        """Decode rankings whose times are from one to another, in microseconds since 1970."""

    def read_labels(self, texts: Sequence[bytes], span: tuple[int, int]) -> _Decoded:
        """Decode labels, likewise."""

@final
class Items:
    """What is known of items besides judgments."""

    def __new__(
        cls,
        catalogue: _IdColumn | None = None,
        history: Judgments | None = None,
        described: tuple[_IdColumn, int, NDArray[np.float64]]
        | tuple[_IdColumn, NDArray[np.int64], NDArray[np.int64]]
        | None = None,
    ) -> Items: ...
    def offered(self) -> int: ...
    def has_categories(self) -> bool | None: ...

@final
class Judgments:
    """The judgments of many queries."""

    @staticmethod
    def from_path(
        source: _Source,
        encoding: str,
        duplicates: str,
        progress: _Progress,
        second: str,
    ) -> Judgments: ...
    @staticmethod
    def from_subtopic_rows(rows: object, second: str, duplicates: str) -> Judgments: ...
    @staticmethod
    def from_subtopic_columns(
        queries: _IdColumn,
        topics: _IdColumn,
        docs: _IdColumn,
        grades: _Numbers,
        second: str,
        duplicates: str,
    ) -> Judgments: ...
    def subtopics(self) -> int | None: ...
    @staticmethod
    def from_dict(qrels: object, duplicates: str) -> Judgments: ...
    @staticmethod
    def from_rows(rows: object, duplicates: str) -> Judgments: ...
    @staticmethod
    def from_columns(
        queries: _IdColumn, docs: _IdColumn, grades: _Numbers, duplicates: str
    ) -> Judgments: ...
    def query_ids(self) -> list[str]: ...
    def find(self, query: str) -> int | None: ...
    def documents(self, query: int) -> list[tuple[str, float]]: ...
    def grades(self) -> list[float]: ...
    def notes(self) -> _Notes: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Judgments], tuple[bytes]]: ...
    def __copy__(self) -> Judgments: ...
    def __deepcopy__(self, memo: object, /) -> Judgments: ...

@final
class Lines:
    """Values by query, to print as trec_eval does, and to add in an order of the queries."""

    def __new__(
        cls,
        measures: list[tuple[str, str, list[memoryview[float] | array[float]]]],
        order: list[int],
    ) -> Lines: ...
    def write(self, judgments: Judgments, start: int, end: int, threads: int) -> bytes: ...
    def sums(self) -> list[tuple[float, float]]: ...

@final
class Plan:
    """What to evaluate, and how."""

    def __new__(
        cls,
        measures: list[tuple[str, str, Mapping[str, object], bool, tuple[str, float | None]]],
        policy: dict[str, str | float | None],
        duplicates: str,
        score_type: str,
        cutoffs: list[int | None],
        weights: list[float] | None,
        depth: int | None = None,
        items: Items | None = None,
        judged: Judgments | None = None,
    ) -> Plan: ...
    def gains(self, measure: int, grades: Sequence[float]) -> list[float] | None: ...
    def discounted(
        self, measure: int, gains: Sequence[float], ranks: Sequence[int]
    ) -> list[float] | None: ...

@final
class Reassignments:
    def __new__(
        cls,
        is_first: NDArray[np.uint8],
        is_second: NDArray[np.uint8],
        permutations: int,
        seed: int,
    ) -> Reassignments: ...
    def find_strongest(
        self,
        queries: SliceQueries,
        grids: Sequence[tuple[Sequence[int], NDArray[np.int64], float]],
        choices: tuple[float, float, float, int],
        threads: int,
        check: Callable[[], None] | None,
    ) -> tuple[bytes, tuple[float, int, int, float] | None]: ...
    def standardize(self, effects: _Effects) -> bytes: ...

@final
class RunText:
    """The text of a run, which is evaluated while it is read, or read as far as memory allows."""

    def __new__(cls, source: _Source, encoding: str, plan: Plan) -> Self: ...
    @property
    def name(self) -> str: ...
    def evaluate(
        self, judgments: Judgments, threads: int, progress: _Progress
    ) -> Evaluation | None: ...
    def read(self, size: int, progress: _Progress) -> bool: ...
    def take_rows(
        self,
    ) -> tuple[tuple[Column, Column], tuple[Column, Column], Column, Column]: ...
    def finish(self) -> Run: ...
    def finish_parts(self, parts: RunParts) -> Evaluation: ...

@final
class Run:
    """A run held in memory."""

    @staticmethod
    def from_path(
        source: _Source, encoding: str, score_type: str, duplicates: str, progress: _Progress
    ) -> Run: ...
    @staticmethod
    def from_dict(lists: object, score_type: str) -> Run: ...
    @staticmethod
    def from_rows(rows: object, score_type: str) -> Run: ...
    @staticmethod
    def from_columns(
        columns: _RunColumns, score_type: str, lines: _Numbers | None = None
    ) -> Run: ...
    def without_same(self) -> Run: ...
    def notes(self) -> _Notes: ...
    def __len__(self) -> int: ...
    def rows(self) -> int: ...
    def columns(self) -> tuple[tuple[Column, Column], Column, tuple[Column, Column], Column]: ...
    def lines(self, first: int, last: int, tag: str) -> bytes: ...

@final
class Evaluation:
    """The values of all measures, in the order of the plan and of the judged queries."""

    def values(self, measure: int) -> Column: ...
    def means(self) -> list[float]: ...
    def denominators(self) -> list[int]: ...
    def counts(self) -> QueryCounts: ...
    def unmatched(self) -> tuple[int, list[str]] | None: ...
    def at_cutoffs(self) -> list[tuple[int, int]]: ...
    def is_present(self) -> bytes: ...
    def notes(self) -> _Notes: ...
    def reweigh(self, weights: list[float]) -> Evaluation: ...
    def over(self, groups: Sequence[int], count: int) -> list[list[tuple[float, int]]]: ...
    def intervals(
        self,
        order: Sequence[int],
        groups: Sequence[int],
        count: int,
        clusters: Sequence[int] | None,
        of_measures: Sequence[tuple[tuple[float, float], int]],
        level: float,
        method: str,
        resamples: int,
        threads: int,
    ) -> list[list[_Estimate]]: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Evaluation], tuple[bytes]]: ...
    def __copy__(self) -> Evaluation: ...
    def __deepcopy__(self, memo: object, /) -> Evaluation: ...

@final
class QueryCounts:
    """The numbers of queries in an evaluation, or in a part of it."""

    @property
    def queries(self) -> int: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def empty(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def run_only(self) -> int: ...
    @property
    def tied(self) -> int: ...
    @property
    def flat(self) -> int:
        """The queries whose documents all have the same score."""

    @property
    def candidates(self) -> int:
        """The size of lists that look like samples of candidates, else 0."""

    @property
    def listed(self) -> int:
        """The queries with a list."""

    @property
    def unmatched(self) -> int:
        """Those of them without a judged document."""

@final
class Summary:
    """Aggregates, counts and notes of some queries, which are merged exactly in any order."""

    @staticmethod
    def merge(parts: Sequence[bytes]) -> Summary: ...
    def pack(self) -> bytes: ...
    def means(self) -> list[float]: ...
    def denominators(self) -> list[int]: ...
    def counts(self) -> QueryCounts: ...
    def at_cutoffs(self) -> list[tuple[int, int]]: ...
    def notes(self) -> _Notes: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Summary], tuple[bytes]]: ...
    def __copy__(self) -> Summary: ...
    def __deepcopy__(self, memo: object, /) -> Summary: ...

@final
class Rankings:
    """A run joined with its judgments, in rank order."""

    def __new__(cls, judgments: Judgments, run: Run, ties: str, duplicates: str) -> Rankings: ...
    @staticmethod
    def from_pairs(
        judgments: Judgments,
        columns: _RunColumns,
        ties: str,
        duplicates: str,
        score_type: str,
        threads: int,
    ) -> Rankings: ...
    @staticmethod
    def from_table(
        columns: _TableColumns, ties: str, duplicates: str, numbers_docs: bool, threads: int
    ) -> Rankings: ...
    @staticmethod
    def from_groups(
        offsets: NDArray[np.int64],
        relevance: _Numbers,
        scores: _Numbers,
        ideal: tuple[NDArray[np.int64], _Numbers] | None,
        ties: str,
        threads: int,
    ) -> Rankings: ...
    def query_ids(self) -> list[str]: ...
    def find(self, query: str) -> int | None: ...
    def grades(self) -> list[float]: ...
    def evaluate(self, plan: Plan, threads: int) -> Evaluation: ...
    def values_at(self, plan: Plan, cutoffs: NDArray[np.int64]) -> Column | None: ...
    def column(self, name: str) -> Column: ...
    def doc_ids(self, query: int) -> list[str]: ...
    def attribute(self, name: str) -> tuple[list[str], list[int]] | None: ...
    def attributes(self) -> list[str]: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Rankings], tuple[bytes]]: ...
    def __copy__(self) -> Rankings: ...
    def __deepcopy__(self, memo: object, /) -> Rankings: ...

@final
class Settled:
    """What became of the events of a batch."""

    def statuses(self) -> bytes:
        """Return the status of each event: 0 is accepted, 1 a duplicate, and 2 a conflict."""

    def seqs(self) -> Column:
        """Return the number of each event; with a conflict, that of what was there."""

    def ids(self) -> list[tuple[int, ...]]:
        """Return the rows of ids that are new, by their keys."""

    def contexts(self) -> list[tuple[str, str, str, tuple[tuple[str, str], ...]] | None]:
        """Return the contexts of the batch, those of no new ranking as `None`."""

    def ranking_ids(self) -> list[str]:
        """Return the ids of the new rankings."""

    def rankings(self, contexts: Sequence[int]) -> list[tuple[int, int, RankingBlock]]:
        """Return the new rankings by hour and environment, with the numbers of contexts."""

    def labels(
        self, waited: Sequence[tuple[Any, ...]]
    ) -> tuple[list[tuple[int, int, LabelBlock]], list[tuple[Any, ...]]]:
        """Return the new labels with those that have waited, likewise, and the rows of others."""

@final
class SliceQueries:
    def __new__(
        cls,
        before: _SliceColumns,
        after: _SliceColumns,
        sizes: Sequence[int],
        units: int,
    ) -> SliceQueries: ...

@final
class RunParts:
    """Evaluates a run of columns batch by batch, each with all rows of its queries."""

    def __new__(cls, judgments: Judgments) -> RunParts: ...
    def push(
        self,
        plan: Plan,
        columns: _RunColumns,
        threads: int,
        numbers: NDArray[np.int64] | None,
    ) -> bool: ...
    def finish(self, plan: Plan) -> Evaluation: ...

@final
class TableStream:
    """Evaluates a table batch by batch."""

    def __new__(cls) -> TableStream: ...
    def push(
        self,
        plan: Plan,
        columns: _TableColumns,
        ties: str,
        duplicates: str,
        is_grouped: bool,
        threads: int,
    ) -> bool: ...
    def finish(
        self, plan: Plan, order: list[int] | None
    ) -> tuple[Evaluation, list[str], list[tuple[str, list[str], list[int]]]] | None: ...

@final
class IdSet:
    def __new__(cls) -> IdSet: ...
    def add(self, column: _Texts, rows: NDArray[np.int64]) -> None: ...
    def find(self, column: _Texts, rows: NDArray[np.int64]) -> Column: ...

@final
class RankingBlock:
    """Columns of rankings, which are encoded in one piece. A key is two integers."""

    def __len__(self) -> int: ...
    @staticmethod
    def decode(body: bytes) -> RankingBlock: ...
    @staticmethod
    def join(blocks: Sequence[RankingBlock]) -> RankingBlock: ...
    def encode(self) -> bytes: ...
    def take(self, rows: NDArray[np.int64]) -> RankingBlock: ...
    def columns(self) -> tuple[Column, ...]: ...
    def extent(self) -> tuple[int, int, int, int] | None:
        """Return the least and the largest number, and the first and the last time; not of none."""

    def spans(self) -> list[tuple[int, int, int, int]]:
        """Return by context the number of rankings, and their first and last times."""

    def seqs(self) -> Column: ...
    def times(self) -> Column: ...
    def contexts(self) -> Column: ...
    def ranking_ids(self) -> tuple[Column, Column]: ...
    def event_ids(self) -> tuple[Column, Column]: ...
    def user_ids(self) -> tuple[Column, Column]: ...
    def keys(self, project: int) -> tuple[Column, Column, Column, Column]: ...

@final
class LabelBlock:
    """Columns of labels, likewise."""

    def __len__(self) -> int: ...
    @staticmethod
    def decode(body: bytes) -> LabelBlock: ...
    @staticmethod
    def join(blocks: Sequence[LabelBlock]) -> LabelBlock: ...
    def encode(self) -> bytes: ...
    def take(self, rows: NDArray[np.int64]) -> LabelBlock: ...
    def columns(
        self,
    ) -> tuple[
        Column,
        Column,
        Column,
        Column,
        Column,
        Column,
        Column,
        Column,
        Column,
        Column,
        tuple[str, ...],
        Column,
        Column,
    ]: ...
    def extent(self) -> tuple[int, int, int, int] | None: ...
    def seqs(self) -> Column: ...
    def shown(self) -> Column: ...
    def times(self) -> Column: ...
    def ranking_ids(self) -> tuple[Column, Column]: ...
    def event_ids(self) -> tuple[Column, Column]: ...
    def keys(self, project: int) -> tuple[Column, Column]: ...

@final
class TextCodes:
    def __new__(cls) -> TextCodes: ...
    def number(
        self, columns: Sequence[tuple[bytes, _Texts]], rows: NDArray[np.int64]
    ) -> Column: ...
    def texts(self) -> tuple[Column, Column]: ...

def add_sums(packed: list[bytes]) -> bytes: ...
def audit_ties(
    rankings: Rankings, plan: Plan, scores: NDArray[np.float64] | None, threads: int
) -> tuple[Column, Column, Column, Column, Column]: ...
def bound(
    rankings: Rankings, plan: Plan, scale: Sequence[float], threads: int
) -> tuple[Column, Column, Column, bytes, bytes]: ...
def bound_difference(
    one: Rankings, other: Rankings, plan: Plan, scale: Sequence[float], threads: int
) -> tuple[Column, Column, Column, bytes, bytes]: ...
def choose_sums(packed: bytes, places: Sequence[int | None]) -> bytes: ...
def compare_rankings(
    one: Run | Rankings,
    other: Run | Rankings,
    persistence: float,
    ties: str,
    depths: Sequence[int],
    threads: int,
) -> tuple[list[str], tuple[int, int], int, Column, Column]: ...
def find_regrets(
    rankings: Rankings, plan: Plan
) -> tuple[Column, Column, Column, Column, Column]: ...
def evaluate_part(
    judged: tuple[_IdColumn, _IdColumn, _Numbers],
    run: _RunColumns,
    plan: Plan,
    ties: str,
    duplicates: str,
    score_type: str,
    threads: int,
) -> tuple[Evaluation, list[str], _Notes]: ...
def evaluate_run(judgments: Judgments, plan: Plan, run: Run, threads: int) -> Evaluation: ...
def bound_below(sums: NDArray[np.float64], counts: NDArray[np.float64], error: float) -> float: ...
def bounded_tails(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    clusters: NDArray[np.int64] | None,
    value_range: tuple[float, float],
    limit: float,
) -> tuple[float, float] | None: ...
def bounded_units_needed(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    clusters: NDArray[np.int64] | None,
    value_range: tuple[float, float],
    limit: float,
    truth: float,
    times: float,
    level: float,
    power: float,
) -> int | None: ...
def average_units(
    sums: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[float, float, float]: ...
def estimate_mean(
    values: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    clusters: NDArray[np.int64] | None,
    value_range: tuple[float, float],
    level: float,
    method: str,
    resamples: int,
    seed: int,
    threads: int,
) -> _Estimate: ...
def count_flips(
    families: Sequence[
        tuple[NDArray[np.int64], NDArray[np.float64], int, Sequence[tuple[int, int]]]
    ],
    count: int,
    flips: int,
    seed: int,
    threads: int,
    check: Callable[[], None] | None,
) -> tuple[list[float], list[int], list[tuple[int, int]], list[int], int, bool]: ...
def invert_flips(
    families: Sequence[
        tuple[
            tuple[NDArray[np.int64], NDArray[np.float64], int, Sequence[tuple[int, int]]],
            NDArray[np.float64],
        ]
    ],
    count: int,
    level: float,
    margin: float,
    flips: int,
    seed: int,
    threads: int,
    check: Callable[[], None] | None,
) -> list[tuple[float, float, float, float]]: ...
def evaluate_dict(judgments: Judgments, plan: Plan, lists: object) -> Evaluation: ...
def evaluate_items(items: _Items, choices: _Choices) -> _LoggedValues: ...
def evaluate_samples(samples: Sequence[Rankings], plan: Plan, threads: int) -> Evaluation: ...
def fuse_runs(
    runs: Sequence[tuple[Run | Rankings, str]], settings: _Fusion, threads: int
) -> Run: ...
def grade_items(
    times: NDArray[np.int64],
    items: _Items,
    labels: _Labels,
    rule: _Rule,
    choices: _Choices | None,
) -> tuple[list[Column], _LoggedValues | None]: ...
def fsum(values: list[float]) -> float: ...
def hash_column(ids: _IdColumn) -> Column: ...
def hash_ids(project: int, ids: Sequence[str]) -> list[tuple[int, int]]: ...
def hash_other_ids(project: int, ids: Sequence[str]) -> list[tuple[int, int]]: ...
def hash_texts(columns: Sequence[tuple[bytes, _Texts]], rows: NDArray[np.int64]) -> Column: ...
def join_labels(rankings: RankingBlock, labels: LabelBlock) -> tuple[Column, Column]: ...
def log2(integer: int) -> float: ...
def mean_of_rows(
    plan: Plan,
    grades: NDArray[np.number],
    scores: NDArray[np.number],
    is_reversed: bool,
    threads: int,
) -> float | None: ...
def measure_costs(items: _Items, choices: _Choices) -> list[Column]: ...
def noncentral_t_lower(statistic: float, degrees: float, shift: float) -> float: ...
def normal_tails(statistic: float) -> float: ...
def order_texts(texts: Sequence[str]) -> list[int]: ...
def restore_evaluation(saved: bytes) -> Evaluation: ...
def restore_judgments(saved: bytes) -> Judgments: ...
def restore_rankings(saved: bytes) -> Rankings: ...
def restore_summary(saved: bytes) -> Summary: ...
def round_sums(packed: bytes) -> list[float]: ...
def split_json(text: bytes, most: int) -> list[bytes] | None: ...
def student_tails(statistic: float, degrees: float) -> float: ...
def sum_cells(
    groups: NDArray[np.int64],
    count: int,
    marks: Sequence[NDArray[np.uint8]],
    amounts: Sequence[NDArray[np.int64]],
    values: Sequence[NDArray[np.float64]],
    divisions: Sequence[tuple[NDArray[np.int64], int]],
) -> list[tuple[Column, Column, list[bytes]]]: ...
def sum_groups(
    groups: NDArray[np.int64], columns: list[NDArray[np.float64]], count: int
) -> list[bytes]: ...
def decode_columns(
    decoder: EventDecoder, heads: _Heads, documents: _Documents, span: tuple[int, int]
) -> _Decoded: ...
def decode_label_columns(
    decoder: EventDecoder, labels: _LabelColumns, span: tuple[int, int]
) -> _Decoded: ...
def summarize(evaluation: Evaluation) -> bytes: ...
def summarize_groups(evaluation: Evaluation, groups: Sequence[int], count: int) -> list[bytes]: ...
def t_quantile(level: float, degrees: float) -> float: ...
def values_of_rows(
    plan: Plan,
    grades: NDArray[np.number],
    scores: NDArray[np.number],
    offsets: NDArray[np.int64],
    mask: NDArray[np.uint8] | None,
    threads: int,
) -> tuple[Column, Column]: ...
