"""Numbers the categories of items, of which a text may name several."""

from __future__ import annotations

from collections import Counter

from rankscope._inputs.arrow import load_arrow
from rankscope._inputs.columns import count_ids
from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.output.diagnostics import describe
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from rankscope._inputs.columns import IdColumn
    from rankscope._inputs.items import Described
    from rankscope.output.diagnostics import Diagnostic

SEPARATOR = "|"
"""What separates categories in one text, such as the genres of MovieLens."""
OTHER_SEPARATORS = "[,;]"
"""What may do so, or be part of a name: it is noted."""
PRINTED_LIST = r"^\[.*\]$"
"""How lists look that were written to a CSV file."""

FEWEST_NAMED = 20
"""Fewer items may have a category of their own by chance."""
NAMED = 0.9
"""The share of different texts from which they are names of items, such as titles."""


@record(frozen=True, slots=True)
class Tokens:
    """The categories in a column: the row of each, and its place among the sorted texts."""

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    texts: Sequence[str]

    @property
    def are_names(self) -> bool:
        """Whether nearly every category is that of one item, so that no two items share one."""
        return len(self.rows) >= FEWEST_NAMED and len(self.texts) >= NAMED * len(self.rows)


def drop_names(columns: Mapping[str, Any], notes: list[Diagnostic]) -> dict[str, Any]:
    """Leave out columns of texts that are names of items, if there are others; note them."""
    names = [name for name, column in columns.items() if _holds_names(column)]
    if len(names) < len(columns):
        notes += [describe("item_names", 1, {"column": name}, file="items") for name in names]
        return {name: column for name, column in columns.items() if name not in names}
    return dict(columns)


def _holds_names(column: Any) -> bool:  # noqa: ANN401 - PyArrow has no types
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    kinds = (arrow.types.is_string, arrow.types.is_large_string)
    if not any(is_text(column.type) for is_text in kinds):
        return False
    present = len(column) - column.null_count
    if present < FEWEST_NAMED or compute.count_distinct(column).as_py() < NAMED * present:
        return False
    # Many combinations of few genres may all differ, too.
    return not compute.any(compute.match_substring(column, SEPARATOR)).as_py()


def number_texts(name: str, column: Any, notes: list[Diagnostic]) -> Tokens:  # noqa: ANN401 - as above
    """Number the categories in a column of texts, split at each `|`, which is noted."""
    compute = load_arrow("pyarrow.compute")
    rows = np.flatnonzero(np.asarray(column.is_valid()))
    texts = column.drop_null()
    _refuse_printed_lists(name, texts)
    separated = compute.sum(compute.match_substring(texts, SEPARATOR)).as_py() or 0
    if separated:
        notes.append(describe("categories_split", separated, {"column": name}, file="items"))
        parts = compute.split_pattern(texts, SEPARATOR)
        rows = np.repeat(rows, np.asarray(parts.value_lengths()))
        texts = compute.utf8_trim_whitespace(parts.flatten())
        is_word = np.asarray(compute.not_equal(texts, ""))
        rows, texts = rows[is_word], texts.filter(load_arrow().array(is_word))
    else:
        note_other_separators(name, texts, notes)
    return note_names(name, _number(rows, texts), notes)


def _refuse_printed_lists(name: str, texts: Any) -> None:  # noqa: ANN401 - as above
    """Raise an error for texts such as `['Action', 'War']`, each of which would be a category."""
    compute = load_arrow("pyarrow.compute")
    found = texts.filter(compute.match_substring_regex(texts, PRINTED_LIST))
    if len(found):
        raise FormatError(
            f"expected categories in {name}, found the text of a list, {quote(found[0].as_py())}",
            hint="separate the categories of a text by |, or pass lists: "
            f"table[{name!r}].map(ast.literal_eval)",
            code="item_attributes",
        )


def note_other_separators(name: str, texts: Any, notes: list[Diagnostic]) -> None:  # noqa: ANN401 - as above
    """Note categories whose names may be lists of categories."""
    compute = load_arrow("pyarrow.compute")
    distinct = texts.unique()
    found = compute.sum(compute.match_substring_regex(distinct, OTHER_SEPARATORS)).as_py() or 0
    code = "categories_with_commas"
    if not found:
        found, code = _count_lists_with_blanks(distinct.to_pylist()), "categories_with_blanks"
    if found:
        notes.append(describe(code, found, {"column": name}, file="items"))


def _count_lists_with_blanks(texts: Iterable[str]) -> int:
    """Count texts such as `Animation Comedy` whose words are categories of other texts.

    Either all words are in other texts, or one begins another text or is all of it. The words of a
    name, such as `Science Fiction`, are seldom elsewhere, and keep their places.
    """
    split = [text.split() for text in texts]
    counts = Counter(word for words in split for word in {*words})
    moved = {words[0] for words in split if words} & {word for words in split for word in words[1:]}
    return sum(
        len(words) > 1 and (not moved.isdisjoint(words) or all(counts[word] > 1 for word in words))
        for words in split
    )


def number_lists(column: Any) -> Tokens:  # noqa: ANN401 - as above
    """Number the categories in a column of lists of texts."""
    lengths = np.array(column.value_lengths().fill_null(0))
    rows = np.repeat(np.arange(len(lengths)), lengths)
    flat = column.flatten()
    is_there = np.asarray(flat.is_valid())
    return _number(rows[is_there], flat.drop_null())


def note_names(name: str, tokens: Tokens, notes: list[Diagnostic]) -> Tokens:
    """Note categories by which no two items are alike."""
    if tokens.are_names:
        notes.append(
            describe("item_names_alone", len(tokens.texts), {"column": name}, file="items")
        )
    return tokens


def _number(rows: NDArray[Any], texts: Any) -> Tokens:  # noqa: ANN401 - as above
    """Number texts by their order, so that it doesn't depend on that of the items."""
    arrow = load_arrow()
    encoded = (texts if len(texts) else arrow.array([], arrow.string())).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    places = np.empty(len(names), dtype=np.int64)
    order = sorted(range(len(names)), key=names.__getitem__)
    places[order] = np.arange(len(names))
    codes = places[np.asarray(encoded.indices)] if len(names) else np.zeros(0, dtype=np.int64)
    return Tokens(rows.astype(np.int64), codes, [names[at] for at in order])


def join_tokens(ids: IdColumn, columns: Sequence[Tokens]) -> Described:
    """Bring the categories of several columns together; equal texts of two columns differ."""
    starts = np.cumsum([0, *(len(column.texts) for column in columns)])
    rows = np.concatenate([column.rows for column in columns])
    shifted = zip(columns, starts.tolist(), strict=False)
    codes = np.concatenate([column.codes + start for column, start in shifted])
    order = np.argsort(rows, kind="stable")
    counts = np.bincount(rows, minlength=count_ids(ids))
    ends = np.concatenate([[0], np.cumsum(counts)])
    return ids, ends.astype(np.int64), codes[order].astype(np.int64)
