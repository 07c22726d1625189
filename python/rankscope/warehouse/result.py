"""SQL that computes measures."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@record(frozen=True, slots=True)
class SqlStatements:
    """SQL that computes measures where the tables are. `str()` is that of the means.

    Args:
        dialect: The dialect of the statements.
        columns: The column of each measure in the results, by its name.
        means: A `SELECT` with one row, or one row for each slice: the number of queries
            (`queries`), the mean of each measure, how many queries it is over (its column with
            `_n`), and how many problems the checks found (`problems`). If there are problems, the
            values are null.
        per_query: A `SELECT` with one row for each query. A value is null if the query is left out
            of the mean, or if there are problems.
        checks: A `SELECT` with one row for each kind of problem: its code, how many there are, a
            query and a document that have it, and what it means. No rows means no problems.

    Examples:
        >>> import rankscope as rs
        >>> statements = rs.sql("qrels", "run", ["nDCG@10", "RR"])
        >>> statements.columns
        {'nDCG@10': 'ndcg_at_10', 'RR': 'rr'}
        >>> str(statements) == statements.means
        True
    """

    dialect: str
    columns: Mapping[str, str]
    means: str
    per_query: str
    checks: str

    def __str__(self) -> str:
        return self.means
