"""Reads the columns of any library exactly: ids, numbers and values."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from rankscope._inputs.arrow import fill_nulls, fill_texts, load_arrow, of_array, to_array
from rankscope._inputs.doubles import code_of, inexact, not_numbers, read_decimal
from rankscope._inputs.files.lists import is_list
from rankscope._inputs.id_texts import find_spelling, spell, spell_column, spell_moments
from rankscope._inputs.numbers import is_integer, is_row, keep_numbers
from rankscope._inputs.open_column import (
    decode,
    find_arrow,
    find_texts,
    is_null,
    is_null_type,
    is_uuid_type,
    open_column,
    read_utf8,
)
from rankscope.deferred import np
from rankscope.errors import FormatError
from rankscope.output.ids import MISSING, UUIDS, are_uuids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    Foreign: TypeAlias = Any  # a column of another library
    Texts: TypeAlias = tuple[NDArray[np.int64] | NDArray[np.int32], NDArray[np.uint8]]
    IdColumn: TypeAlias = NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.uint8]]
    IdView: TypeAlias = IdColumn | list[Texts]


def read_ids(column: Foreign, name: str) -> IdColumn:
    """Read a column of ids, which are integers or text."""
    try:
        return _read_ids(column, name)
    except FormatError as error:
        if error.code == "id_type" and _has_lists(column):
            raise _lists_in_rows(name, "an ID", "id_type") from error
        raise


def view_ids(column: Foreign, name: str) -> IdView:
    """Read a column of ids as `read_ids` does, but leave texts of Arrow where they are, unchecked.

    They may be in pieces.
    """
    texts = find_texts(column)
    return read_ids(column, name) if texts is None else list(map(_texts_of, texts))


def _read_ids(column: Foreign, name: str) -> IdColumn:
    values = open_column(column, name, lambda found: _bad_ids(name, found))
    if len(values) == 0:
        return np.zeros(0, dtype=np.int64)
    if isinstance(values, list):
        return _ids_of_list(values, name)
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "M" and not np.ma.isMaskedArray(values):
            return _texts_of(spell_moments(values, name))
        is_missing = np.ma.getmask(values)
        if is_missing is not np.ma.nomask and is_missing.any():
            raise _no_id(name, int(np.argmax(is_missing)))
        return _ids_of_numbers(np.ma.getdata(values), name)
    if values.null_count:
        raise _no_id(name, values.is_null().index(True).as_py())
    values = spell_column(values)
    kinds = load_arrow().types
    if kinds.is_integer(values.type):
        return _ids_of_numbers(to_array(values), name)
    if kinds.is_large_string(values.type):
        return _texts_of(values)
    if kinds.is_large_binary(values.type):
        return _texts_of(read_utf8(values, name))
    raise _bad_ids(name, str(values.type))


INTEGER_TYPES = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def id_type(column: Foreign) -> str:
    """Return the type of a column of ids as `data.ids.IdColumn` does: nothing for text.

    Integers in a list or under a dictionary encoding are `int64`.
    """
    # NumPy, pandas, Polars and Arrow have the same names for integers but for their case.
    declared = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if declared in INTEGER_TYPES:
        return declared
    if name_id_type(getattr(column, "type", None)) == UUIDS:
        return UUIDS
    try:
        values = open_column(column, "", lambda found: _bad_ids("", found))
        if isinstance(values, list) and are_uuids(set(map(type, values))):
            return UUIDS
        ids = read_ids(values, "")
    except FormatError:
        return ""
    return "" if isinstance(ids, tuple) or not len(ids) else "int64"


def name_id_type(kind: Foreign) -> str:
    """Return what a type of Arrow is called in `data.ids.IdColumn`: nothing for text."""
    if is_uuid_type(kind):
        return UUIDS
    name = str(getattr(kind, "value_type", kind))
    return name if name in INTEGER_TYPES else ""


def count_ids(column: IdColumn) -> int:
    """Return the number of ids in a column."""
    return len(column[0]) - 1 if isinstance(column, tuple) else len(column)


def _ids_of_numbers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    if values.dtype.kind not in "iu":
        raise _bad_ids(name, str(values.dtype))
    is_large = values > np.iinfo(np.int64).max if values.dtype == np.uint64 else np.zeros(0, bool)
    if is_large.any():
        raise _large_id(name, int(np.argmax(is_large)))
    return np.ascontiguousarray(values, dtype=np.int64)


def _ids_of_list(values: list[Foreign], name: str) -> IdColumn:
    kinds = set(map(type, values))
    if all(map(is_integer, kinds)):
        try:
            return np.array(values if kinds == {int} else list(map(int, values)), dtype=np.int64)
        except OverflowError:
            largest = 2**63
            at = next(at for at, value in enumerate(values) if not -largest <= value < largest)
            raise _large_id(name, at) from None
    if all(find_spelling(kind) is not None and not is_null_type(kind) for kind in kinds):
        return _ids_of_texts(_spell_values(values, name), name)
    if all(issubclass(kind, str) for kind in kinds):
        return _ids_of_texts(values, name)
    has_text = any(issubclass(kind, str) for kind in kinds)
    if isinstance(values[0], str) or (has_text and find_spelling(type(values[0])) is not None):
        good = {kind for kind in kinds if issubclass(kind, str)}
    else:
        good = {kind for kind in kinds if is_integer(kind) or find_spelling(kind) is not None}
        good = {kind for kind in good if is_integer(kind) == is_integer(type(values[0]))}
        good = {kind for kind in good if not is_null_type(kind)}
    at = next(at for at, value in enumerate(values) if type(value) not in good)
    raise _no_id(name, at) if is_null(values[at]) else _bad_ids(name, type(values[at]).__name__, at)


def _spell_values(values: list[Foreign], name: str) -> list[str]:
    texts = []
    for at, value in enumerate(values):
        try:
            texts.append(spell(value))
        except FormatError as error:
            error.message, error.line = f"{name}: {error.message}", at + 1
            raise
    return texts  # type: ignore[return-value]  # as spelled


def _ids_of_texts(values: list[str], name: str) -> IdColumn:
    pa = load_arrow()
    try:
        return _texts_of(pa.array(values, pa.large_string()))
    except UnicodeEncodeError as error:
        at = next(at for at, value in enumerate(values) if not _is_unicode(value))
        raise FormatError(
            f"expected text in {name}, found a lone surrogate: {values[at]!a:.120}",
            hint="it is half of a character; the text was decoded with errors passed over",
            code="surrogate",
            line=at + 1,
        ) from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts_of(values: Foreign) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return the buffers of an Arrow array of texts, whose offsets have 32 or 64 bits."""
    _, offsets, texts = values.buffers()
    width = np.int64 if load_arrow().types.is_large_string(values.type) else np.int32
    starts = np.frombuffer(offsets or b"", dtype=width)[values.offset :][: len(values) + 1]
    return starts, np.frombuffer(texts or b"", dtype=np.uint8)


def to_arrow(ids: IdColumn) -> Foreign:
    """Return ids as an Arrow array of texts, or of integers."""
    pa = load_arrow()
    if isinstance(ids, np.ndarray):
        return of_array(ids)
    offsets, texts = (pa.py_buffer(np.ascontiguousarray(part)) for part in ids)
    return pa.LargeStringArray.from_buffers(count_ids(ids), offsets, texts)


def read_values(column: Foreign, name: str) -> IdColumn:
    """Read a column of any values as text or integers. Null is a value of its own."""
    return read_typed_values(column, name)[0]


def read_typed_values(column: Foreign, name: str) -> tuple[IdColumn, str]:
    """Read a column as `read_values` does; name its type as `AttributeColumn` does."""

    def refuse(found: str) -> FormatError:
        return FormatError(
            f"expected {name} to hold texts, numbers, dates or truth values, found {found}",
            hint="convert the column to text first",
            code="attribute_type",
        )

    values = open_column(column, name, refuse)
    if type(values) is np.ndarray and values.dtype.kind in "iu" and values.dtype != np.uint64:
        return np.ascontiguousarray(values, dtype=np.int64), id_type(column)
    pa = load_arrow()
    try:
        if isinstance(values, list | np.ndarray):
            values = decode(pa.array(values, from_pandas=True))
        texts = _texts_of(fill_texts(values.cast(pa.large_string()), MISSING))
        return texts, _value_type(values.type)
    except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
        raise refuse(f"{getattr(values, 'type', 'a mixture')}") from error


def _value_type(given: Foreign) -> str:
    """Name a type of Arrow as `AttributeColumn` does."""
    kinds = load_arrow().types
    if kinds.is_integer(given):
        return str(given)
    if kinds.is_floating(given):
        return "float64"
    if kinds.is_date(given):
        return "date"
    if kinds.is_timestamp(given):
        return "datetime"
    return "bool" if kinds.is_boolean(given) else ""


def read_numbers(
    column: Foreign, name: str, role: str, *, allows_null: bool = False
) -> NDArray[Any]:
    """Read a column of numbers that doubles hold exactly, or of truth values as grades."""
    are_grades = role == "relevance"
    try:
        values = open_column(column, name, lambda found: not_numbers(name, found))
        if isinstance(values, list):
            values = _fill_nulls(values)
        if not isinstance(values, list | np.ndarray):
            values = _numbers_of_arrow(values, name, are_grades=are_grades)
        if not allows_null:
            _refuse_nulls(values, name, role)
        return keep_numbers(values, name, are_grades=are_grades)
    except FormatError as error:
        if error.code in {"not_numeric", "array_shape"} and _has_lists(column):
            raise _lists_in_rows(name, "a number", code_of("text", role)) from error
        # A list in a row is no number, as a text is none.
        if error.code == "not_numeric" or (error.code == "array_shape" and error.line is not None):
            error.code = code_of("text", role)
        raise


def _refuse_nulls(values: Foreign, name: str, role: str) -> None:
    is_missing = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else np.zeros(0, bool)
    if is_missing.any():
        raise FormatError(
            f"expected a number in every row of {name}, found none",
            hint="drop the rows without one",
            code=code_of("missing", role),
            line=int(np.argmax(is_missing)) + 1,
        )


def _fill_nulls(values: list[Foreign]) -> Foreign:
    """Mask the nulls in an array of Python objects."""
    nulls = set(filter(is_null_type, map(type, values)))
    if not nulls:
        return values
    is_missing = np.fromiter((type(value) in nulls for value in values), bool, len(values))
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return np.ma.array(objects, mask=is_missing)


def _numbers_of_arrow(values: Foreign, name: str, *, are_grades: bool) -> NDArray[Any]:
    """Convert an Arrow array to a NumPy array that is masked where the values are null."""
    pa = load_arrow()
    kind = values.type
    if pa.types.is_null(kind):
        return np.ma.array(np.zeros(len(values)), mask=True)
    if pa.types.is_decimal(kind):
        values = _round_decimals(values, name)
    elif pa.types.is_float16(kind):
        values = values.cast(pa.float32())
    elif pa.types.is_boolean(kind) and are_grades:
        values = values.cast(pa.int32())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise not_numbers(name, str(kind))
    if not values.null_count:
        return to_array(values)
    return np.ma.array(fill_nulls(values, 0), mask=to_array(values.is_null()))


def _round_decimals(values: Foreign, name: str) -> Foreign:
    """Convert decimals to the nearest doubles. Too many digits are an error."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    try:
        # By text, for the direct way does not give the nearest double.
        numbers = values.cast(pa.string()).cast(pa.float64())
    except NotImplementedError as error:
        raise not_numbers(name, str(values.type)) from error
    try:
        is_same = compute.equal(numbers.cast(pa.string()).cast(values.type), values)
    except pa.ArrowInvalid:  # one has more digits than the type: each is looked at alone
        is_same = pa.array([False] * len(values))
    differing = compute.indices_nonzero(compute.invert(is_same)).to_pylist()
    for at in differing:
        number = values[at].as_py()
        if number is not None and read_decimal(number) is None:
            raise inexact(name, str(number), (at,))
    return numbers


def _no_id(name: str, at: int) -> FormatError:
    return FormatError(
        f"expected an id in every row of {name}, found none",
        hint="drop the rows without one",
        code="missing_id",
        line=at + 1,
    )


def _large_id(name: str, at: int) -> FormatError:
    error = _bad_ids(name, "an integer beyond 64 bits", at)
    error.hint = "turn such ids into text"
    return error


def _bad_ids(name: str, found: str, at: int | None = None) -> FormatError:
    return FormatError(
        f"expected {name} to hold text or integers, found {found}",
        hint="IDs are text, integers, UUIDs, dates, times, decimals or bytes: .astype(str) makes "
        "text, .astype('Int64') integers of whole numbers that became floats",
        code="id_type",
        line=None if at is None else at + 1,
    )


def _has_lists(column: Foreign) -> bool:
    """Check whether the rows of a column are lists, by its type or its first row."""
    if getattr(column, "ndim", 1) != 1 or not hasattr(column, "__iter__"):
        return False
    kind = getattr(find_arrow(column), "type", None)
    if kind is not None:  # its values may be none that Python has, such as the year 50,000
        return is_list(kind)
    first: Any = next(iter(column), None)
    if isinstance(first, tuple):  # a key of several ids, as groupby makes them
        return False
    return (is_row(type(first)) and getattr(first, "ndim", 1) > 0) or isinstance(first, AbstractSet)


def _lists_in_rows(name: str, wanted: str, code: str) -> FormatError:
    return FormatError(
        f"expected {wanted} in each row of {name}, found a list",
        hint=f"write one row per document: df.explode([{name!r}, …]) with all columns of lists. "
        "Ranked lists without scores can be a mapping: dict(zip(df['query'], df['items']))",
        code=code,
    )
