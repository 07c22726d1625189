"""Logs of impressions as columns of numbers and of codes, whole or batch by batch."""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.errors import EmptyError, FormatError, InputError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.columns import read_numbers, read_values
from rankscope.inputs.files.roles import Wanted
from rankscope.inputs.files.table import TableFile
from rankscope.inputs.open_column import open_column
from rankscope.inputs.query_table import decode
from rankscope.inputs.recognition import recognise_table
from rankscope.inputs.tables import FoundColumns, open_table
from rankscope.names import quote
from rankscope.output.ids import MISSING
from rankscope.records import record
from rankscope.stats.scatter import scatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.settings.reading import Reading

    Foreign: TypeAlias = Any  # a column of another library


def order_rows(columns: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the places of rows in an order of their contents in which rounded sums are added."""
    mixed = np.zeros(1, dtype=np.uint64)
    for column in columns:
        # Zeros of both signs are equal, and so is all that is missing.
        numbers = np.where(np.isnan(column), np.nan, column + 0.0)
        mixed = scatter(mixed ^ np.ascontiguousarray(numbers).view(np.uint64), 0)
    return np.argsort(mixed, kind="stable")


USUAL = {
    "reward": ("reward", "rewards", "clicked", "clicks", "is_clicked", "conversion", "purchase"),
    "click": ("clicked", "clicks", "is_clicked", "reward"),
    "propensity": ("propensity_score", "propensities", "pscore", "action_prob", "p"),
}
"""Names that columns often have, to suggest one of them."""


USERS = ("user_id", "user")
"""Columns that can be those of queries, but are clusters beside another one."""


MOST_SHOWN = 20
"""How many names of columns an error lists."""


@record(frozen=True, slots=True, kw_only=True)
class Values:
    """A column of ids or other values, as codes.

    Args:
        codes: The number of the value of each row, from 0 in the order of the texts.
        texts: The values as text, by number.
    """

    codes: NDArray[np.int64]
    texts: tuple[str, ...]

    def take(self, rows: NDArray[np.int64]) -> Values:
        """Return the values of some rows."""
        return Values(codes=self.codes[rows], texts=self.texts)

    def separate(self) -> NDArray[np.int64]:
        """Return the codes as clusters, from 0: each row without a value is one of its own."""
        codes = self.codes
        if MISSING in self.texts:
            is_missing = codes == self.texts.index(MISSING)
            alone = np.arange(int(is_missing.sum())) + len(self.texts)
            codes = codes.copy()
            codes[is_missing] = alone
        made: NDArray[np.int64] = np.unique(codes, return_inverse=True)[1]
        return made


@record(frozen=True, slots=True, kw_only=True)
class Log:
    """The columns of a log.

    Args:
        numbers: Columns of float64 by role.
        values: Columns of ids by role.
    """

    numbers: Mapping[str, NDArray[np.float64]]
    values: Mapping[str, Values]

    def __len__(self) -> int:
        return next((len(column) for column in self.numbers.values()), 0)

    @property
    def columns(self) -> list[NDArray[Any]]:
        """All columns, those of ids as codes."""
        return [*self.numbers.values(), *(each.codes for each in self.values.values())]

    def take(self, rows: NDArray[np.int64]) -> Log:
        """Return some rows."""
        return Log(
            numbers={role: column[rows] for role, column in self.numbers.items()},
            values={role: column.take(rows) for role, column in self.values.items()},
        )


def read_log(
    log: object,
    reading: Reading,
    *,
    numbers: Mapping[str, str],
    values: Mapping[str, str],
    found: Mapping[str, str | None] | None = None,
    nullable: Sequence[str] = (),
    called: Mapping[str, str] | None = None,
) -> Log:
    """Read columns of a log whose rows are documents that were shown."""
    given = recognise_table(log)
    found = found or {}
    named = {**numbers, **values}
    besides = (*USERS, *values.values())
    try:
        if not given.format:
            table, roles = given.value, found
        else:
            roles = {role: given.columns.get(role, name) for role, name in found.items()}
            others = list(dict.fromkeys(named.values()))
            with TableFile(given, Wanted(roles, others, besides=besides), reading) as file:
                table = load_arrow().Table.from_batches(list(file), file.schema)
                roles = {role: file.columns.get(role) for role in found}
                has = file.names
        source = open_table(table)
        has = source.names if not given.format else has
        _refuse_missing(named, has)
        columns = FoundColumns(source, roles, besides)
        names = {role: columns.seek(role) for role in found}
        _refuse_unfound(names, has, called or {})
        held = {role: source.columns[name] for role, name in named.items()}
        held |= {role: source.columns[name] for role, name in names.items() if name}
        read = Log(
            numbers={
                role: _read_numbers(held[role], named.get(role, role), allows_null=role in nullable)
                for role in [*numbers, *(role for role in found if role == "rank")]
            },
            values={
                role: _read_codes(held[role], named.get(role, role))
                for role in [*values, *(role for role in found if role != "rank")]
            },
        )
    except InputError as error:
        error.file = error.file or given.name
        raise
    _check_lengths(read, named)
    if not len(read):
        raise EmptyError(
            "the log has no rows",
            hint="pass one row for each document that was shown, clicked or not",
            code="empty_input",
        )
    return read


def _refuse_missing(named: Mapping[str, str], has: Sequence[str]) -> None:
    for role, name in named.items():
        if name not in has:
            likely = [each for each in USUAL.get(role, ()) if each in has]
            raise FormatError(
                f"expected the column {quote(name)} of {role}, found {_list_names(has)}",
                hint=f"name it: {role}={likely[0] if likely else f'my_{role}'!r}",
                code="columns",
            )


def _refuse_unfound(
    names: Mapping[str, str | None], has: Sequence[str], called: Mapping[str, str]
) -> None:
    for role, name in names.items():
        if name is None:
            what = called.get(role, role)
            raise FormatError(
                f"expected a column of {what}, found {_list_names(has)}",
                hint=f"name it: {what}='my_{what}'",
                code="columns",
            )


def _list_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(quote, names[:MOST_SHOWN]))
    return f"{shown} and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else shown


def _check_lengths(read: Log, named: Mapping[str, str]) -> None:
    lengths = {role: len(column) for role, column in read.numbers.items()}
    lengths |= {role: len(column.codes) for role, column in read.values.items()}
    (first, count), *others = lengths.items()
    for role, length in others:
        if length != count:
            raise FormatError(
                f"expected columns of one length, found {count} rows of {named.get(first, first)} "
                f"and {length} of {named.get(role, role)}",
                hint="pass a table with one row for each document shown",
                code="column_length",
            )


def _read_numbers(column: Foreign, name: str, *, allows_null: bool) -> NDArray[np.float64]:
    """Read numbers, also truth values, and texts as files without types have them."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if isinstance(column, list | tuple) and column and all(type(each) is bool for each in column):
        return np.array(column, dtype=np.float64)
    if kind.startswith("bool"):
        column = open_column(column, name, lambda found: FormatError(found, code="not_numeric"))
        column = column.cast("int8") if hasattr(column, "cast") else column.astype("int8")
    elif "string" in kind and hasattr(column, "to_pylist"):
        return np.array(list(_parse(column.to_pylist(), name, allows_null=allows_null)))
    numbers = np.asarray(
        read_numbers(column, name, name, allows_null=allows_null), dtype=np.float64
    )
    is_bad = ~np.isfinite(numbers) & ~(np.isnan(numbers) & allows_null)
    if is_bad.any():
        at = int(np.argmax(is_bad))
        raise _not_a_number(name, f"{numbers[at]:g}", at + 1)
    return numbers


def _parse(texts: Sequence[str | None], name: str, *, allows_null: bool) -> Iterator[float]:
    words = {"true": 1.0, "false": 0.0}
    for at, text in enumerate(texts, start=1):
        if not text and allows_null:
            yield math.nan
            continue
        try:
            number = words[text.lower()] if text and text.lower() in words else float(text or "")
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise _not_a_number(name, f"{text or 'nothing'!r:.120}", at)
        yield number


def _not_a_number(name: str, found: str, row: int) -> FormatError:
    return FormatError(
        f"expected numbers in {name}, found {found} in row {row:,}",
        hint="name another column, or drop such rows",
        code="not_numeric",
    )


def _read_codes(column: Foreign, name: str) -> Values:

    read = read_values(column, name)
    if not isinstance(read, tuple):
        kinds, codes = np.unique(read, return_inverse=True)
        names = [str(kind) for kind in kinds.tolist()]
    else:
        known: dict[str, int] = {}
        found = (known.setdefault(text, len(known)) for text in decode(read))
        codes, names = np.fromiter(found, dtype=np.int64), [*known]
    places = {text: place for place, text in enumerate(sorted(names))}
    return Values(codes=np.array([places[text] for text in names])[codes], texts=tuple(places))


MOST_RANKS = 10_000


FEWEST_SHOWN = 100
"""The number of documents from which on it can't be chance that all were clicked."""


ROLES = {"rank": "rank", "click": "relevance", "propensity": "weight"}
"""What the columns are where tables are read."""


@record(frozen=True, slots=True)
class Clicks:
    """Impressions: documents that were shown.

    Args:
        ranks: The rank of each, from 1 on.
        clicks: 1 where it was clicked, 0 elsewhere.
        weights: 1 divided by the probability with which it was shown there, where that is known.
        clusters: The cluster of each, such as the user, as text, where clusters are given.
    """

    ranks: NDArray[np.int64]
    clicks: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    clusters: list[str] | None = None


def refuse_clicked_only(clicked: float, shown: float) -> None:
    """Raise an error for a log of clicks only, in which every rate would be 1."""
    if clicked == shown >= FEWEST_SHOWN:
        raise FormatError(
            "expected documents that were shown and not clicked, found clicks only",
            hint="pass one row for each document that was shown, clicked or not",
            code="bad_click",
        )


def read_clicks(log: object, names: Mapping[str, str | None], reading: Reading) -> Iterator[Clicks]:
    """Read a click log, batch by batch if it is in files."""
    given = recognise_table(log)
    wanted = {role: names[name] for name, role in ROLES.items()}
    if names["propensity"] is None:
        del wanted[ROLES["propensity"]]
    cluster = names.get("cluster")
    if not given.format:
        try:
            yield _read_batch(given.value, wanted, cluster)
        except InputError as error:
            error.file = given.name
            raise
        return

    others = () if cluster is None else (cluster,)
    columns = Wanted({**wanted, **given.columns}, others, [[role] for role in wanted])
    with TableFile(given, columns, reading) as file:
        before = 0
        for batch in file:
            try:
                yield _read_batch(batch, file.columns, cluster)
            except InputError as error:
                error.line = error.line and error.line + before
                raise file.place(error) from None
            before += batch.num_rows


def _read_batch(table: object, wanted: Mapping[str, str | None], cluster: str | None) -> Clicks:

    found = FoundColumns(open_table(table), wanted)
    ranks = found.read_numbers(ROLES["rank"])
    is_rank = (ranks >= 1) & (ranks <= MOST_RANKS) & (ranks == np.floor(ranks))
    _refuse(is_rank, ranks, f"ranks from 1 to {MOST_RANKS:,}", "the first rank is 1", "bad_rank")
    clicks = found.read_numbers(ROLES["click"])
    _refuse((clicks == 0) | (clicks == 1), clicks, "clicks as 0 or 1", SHOWN_ONCE, "bad_click")
    weights = None
    if ROLES["propensity"] in wanted:
        chances = found.read_numbers(ROLES["propensity"])
        is_chance = (chances > 0) & (chances <= 1)
        _refuse(is_chance, chances, "propensities above 0, up to 1", LOGGED, "bad_propensity")
        weights = 1 / np.asarray(chances, dtype=np.float64)
    clusters = None
    if cluster is not None:
        clusters = decode(read_values(found.table.find(cluster, "clusters"), cluster))
    return Clicks(
        np.asarray(ranks, dtype=np.int64), np.asarray(clicks, dtype=np.float64), weights, clusters
    )


SHOWN_ONCE = "a row is one document, shown once"


LOGGED = "a propensity is the probability with which the document was shown there"


def _refuse(is_good: NDArray[Any], values: NDArray[Any], wanted: str, hint: str, code: str) -> None:

    if not is_good.all():
        at = int(np.argmin(is_good))
        raise FormatError(
            f"expected {wanted}, found {values[at]:g}", hint=hint, code=code, line=at + 1
        )
