"""What errors call the things that are passed."""

from __future__ import annotations

LIBRARIES = {
    "datasets": "Hugging Face",
    "duckdb": "DuckDB",
    "_duckdb": "DuckDB",
    "narwhals": "narwhals",
    "numpy": "NumPy",
    "pandas": "pandas",
    "polars": "Polars",
    "pyarrow": "PyArrow",
}


def describe_value(value: object) -> str:
    """Return what a value is, for the message of an error.

    Examples:
        >>> describe_value(5), describe_value([{}]), describe_value(())
        ('int', 'list of dict', 'empty tuple')
    """
    kind = type(value)
    library = LIBRARIES.get(kind.__module__.partition(".")[0])
    if library is not None:
        return f"a {library} {kind.__name__.removeprefix('DuckDBPy')}"
    if isinstance(value, list | tuple) and kind in {list, tuple}:
        return (
            f"{kind.__name__} of {type(value[0]).__name__}" if value else f"empty {kind.__name__}"
        )
    return kind.__name__
