"""The dialects of SQL: what they are called, and where they differ."""

from __future__ import annotations

from rankscope.errors import UsageError, hint_extra
from rankscope.names import find_closest, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    Dialect: TypeAlias = Literal["duckdb", "postgres", "bigquery", "snowflake"]

WRITTEN = "postgres"
"""The dialect in which this package writes SQL; SQLGlot translates it to the others."""

TEXTS = {
    "duckdb": 'CAST({} AS TEXT) COLLATE "C"',
    "postgres": 'CAST({} AS TEXT) COLLATE "C"',
    "bigquery": "COLLATE(CAST({} AS TEXT), '')",
    "snowflake": "COLLATE(CAST({} AS TEXT), 'utf8')",
}
"""A column as text that is compared byte by byte, whatever the collation of the column is."""

ALIASES = {"postgresql": "postgres"}
ORDERED_SUMS = {"duckdb", "postgres"}
"""The dialects in which `SUM` adds up in a given order."""


def read_dialect(given: object) -> Dialect:
    """Return the dialect with a name."""
    name = ALIASES.get(given, given) if isinstance(given, str) else ""
    if name in TEXTS:
        return name  # type: ignore[return-value]  # one of the keys
    closest = find_closest(name, TEXTS)
    raise UsageError(
        f"expected dialect to be one of {', '.join(TEXTS)}; found {quote(given)}",
        hint=f"did you mean {closest}?" if closest else "duckdb is the default",
        code="bad_parameter",
    )


def default_name(name: str, dialect: Dialect) -> str:
    """Return a name as the dialect stores one that was created without quotes.

    Examples:
        >>> default_name("query_id", "duckdb"), default_name("query_id", "snowflake")
        ('query_id', 'QUERY_ID')
    """
    return name.upper() if dialect == "snowflake" else name


def translate(text: str, dialect: Dialect) -> str:
    """Translate a statement, and lay it out."""
    try:
        import sqlglot  # noqa: PLC0415 - only for SQL
        from sqlglot import exp  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "writing SQL needs sqlglot, which is not installed",
            hint=hint_extra("sql"),
            code="missing_extra",
        ) from None
    tree = sqlglot.parse_one(text, read=WRITTEN)
    null_ordering = sqlglot.Dialect.get_or_raise(dialect).NULL_ORDERING
    # Nothing that is sorted here is null, so each dialect can sort as it does by default.
    for ordered in tree.find_all(exp.Ordered):
        is_descending = bool(ordered.args.get("desc"))
        nulls_first = {
            "nulls_are_large": is_descending,
            "nulls_are_small": not is_descending,
            "nulls_are_last": False,
        }[null_ordering]
        ordered.set("nulls_first", nulls_first)
    if dialect not in ORDERED_SUMS:
        for summed in tree.find_all(exp.Sum):
            if isinstance(summed.this, exp.Order):
                summed.set("this", summed.this.this)
    return tree.sql(dialect=dialect, pretty=True)
