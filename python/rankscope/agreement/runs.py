"""How far two runs agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._evaluate.evaluation import NotEvaluatedError
from rankscope._evaluate.judgments import refuse_one_stdin_for_both
from rankscope.agreement.measures import DEFAULT, check_measures, check_settings, compare, mean
from rankscope.difference.compute import name_runs
from rankscope.errors import EmptyError
from rankscope.fusion.inputs import read_run_lists
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import show
from rankscope.records import record
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    import numpy as np
    from numpy.typing import NDArray

    from rankscope._evaluate.rankings import Rankings
    from rankscope.agreement.measures import TieForm
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


@record(frozen=True, slots=True, kw_only=True)
class RunAgreement(Printed, Tabular):
    """How far two runs agree, on average and per query.

    Args:
        names: The names of the two runs.
        means: By measure, the mean over the queries for which it is defined; NaN if there is none.
        defined: By measure, the number of these queries.
        queries: The number of queries with documents in both runs. Only these are compared.
        only_a: The number of queries with documents in the first run alone.
        only_b: The number of queries with documents in the second run alone.
        same_documents: The number of queries with the same documents in both runs.
        p: The persistence of rank-biased overlap.
        ties: What a tie means: `a`, `b` or `w`.
        table: A table with one row per query: `query_id`, `common` (the number of documents in both
            lists), and the measures. NaN means undefined.

    Examples:
        >>> one = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
        >>> other = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q3": {"x": 1.0}}
        >>> found = agreement(one, other, ["RBO", "tau", "overlap@1"])
        >>> round(found["RBO"], 4), round(found["tau"], 4), found["overlap@1"]
        (0.9, 0.3333, 0.0)
        >>> found.queries, found.only_a, found.only_b
        (1, 1, 1)
    """

    names: tuple[str, str]
    means: Mapping[str, float]
    defined: Mapping[str, int]
    queries: int
    only_a: int
    only_b: int
    same_documents: int
    p: float
    ties: str
    table: Table

    def per_query(self, measure: str) -> NDArray[np.float64]:
        """Return the value of each query in both runs, NaN where it is undefined.

        Raises:
            MeasureError: The measure was not computed.
        """
        self[measure]
        return self.table.array(measure)

    def to_dict(self) -> dict[str, object]:
        """Return everything as a dict, with the values of each query."""
        return {
            "runs": list(self.names),
            "p": self.p,
            "ties": self.ties,
            "means": dict(self.means),
            "defined": dict(self.defined),
            "queries": self.queries,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "same_documents": self.same_documents,
            "per_query": self.table.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.export()

    def __getitem__(self, measure: str) -> float:
        if measure not in self.means:
            raise NotEvaluatedError(measure, [*self.means])
        return self.means[measure]

    def _parts(self) -> list[str | Table]:
        one, other = map(show, self.names)
        table = Table(
            {
                "measure": [*self.means],
                "agreement": [*self.means.values()],
                "queries": [*self.defined.values()],
            }
        )
        lines = [f"{one} and {other}, p={self.p:g}, ties={self.ties}"]
        if self.same_documents < self.queries and {"tau", "tau_ap"} & {*self.means}:
            same = f"{self.same_documents} of {self.queries}"
            lines.append(f"queries with the same documents in both runs: {same}")
            lines.append("tau and tau_ap compare the documents that are in both")
        for name, count in ((one, self.only_a), (other, self.only_b)):
            if count:
                lines.append(f"queries in {name} only, not compared: {count}")
        return [table, *lines]

    __repr__ = Printed.__str__


def agreement(
    run_a: InputLike | Rankings,
    run_b: InputLike | Rankings,
    measures: Sequence[str] | str = DEFAULT,
    *,
    p: float = 0.9,
    ties: TieForm = "a",
    names: tuple[str, str] | None = None,
    **options: Unpack[ReadingOptions],
) -> RunAgreement:
    """Measure how far two runs agree, without judgments.

    Documents are ranked by score. `tau` and `tau_ap` compare the documents that are in both lists
    of a query, and are undefined (NaN) for fewer than two. The other measures compare the whole
    lists.

    Args:
        run_a: The first run, as in `evaluate`, or `Rankings` (of which only the judged queries are
            compared). It is the reference of `tau_ap`.
        run_b: The second run.
        measures: The names of measures:

            - `RBO`: rank-biased overlap, extrapolated to the ranks below the lists; `RBO_min` and
              `RBO_max`, its lowest and highest value whatever is below; and `RBO_residual`, the
              difference of these two (Webber, Moffat and Zobel, *A similarity measure for
              indefinite rankings*, 2010)
            - `tau`: Kendall's tau
            - `tau_ap`: tau in which swaps at the top of the second list have more weight (Yilmaz,
              Aslam and Robertson, *A new rank correlation coefficient for information retrieval*,
              2008)
            - `overlap@10`: the share of the first 10 documents that both lists have. If both
              lists are shorter, the longer one is taken whole.
            - `jaccard@10`: the documents in both, divided by those in either
        p: The persistence of rank-biased overlap, between 0 and 1: how much each rank weighs,
            compared with the one above.
        ties: What equal scores mean. `"a"`: any order is possible, and the value is the expected
            one over all orders (for `jaccard`, the ratio of expected counts). `"b"`: like `"a"`,
            corrected for the information that ties hide, so that a list agrees with itself. `"w"`:
            tied documents have the same rank. Corsi and Urbano, *The treatment of ties in
            rank-biased overlap*, 2024. `tau` and `tau_ap` have the forms a and b (Kendall, *The
            treatment of ties in ranking problems*, 1945; Urbano and Marrero, *The treatment of ties
            in AP correlation*, 2017), and use b for `"w"`.
        names: The names of the runs (default: their paths, or `a` and `b`).
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format, a document is twice in a list, or
            no query has documents in both runs.
        FileError: A file can't be read.

    Examples:
        >>> one = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}}
        >>> other = {"q1": {"d2": 9, "d1": 8, "d4": 7}}
        >>> print(agreement(one, other, ["RBO", "RBO_min", "RBO_max", "tau", "jaccard@3"]))
        measure    agreement  queries
        RBO           0.6300        1
        RBO_min       0.3117        1
        RBO_max       0.8730        1
        tau          -1.0000        1
        jaccard@3     0.5000        1
        a and b, p=0.9, ties=a
        queries with the same documents in both runs: 0 of 1
        tau and tau_ap compare the documents that are in both
    """
    names_of_measures = check_measures(measures)
    persistence = check_settings(p, ties)
    reading = Reading.of("agreement", options)
    refuse_one_stdin_for_both(run_a, run_b)  # type: ignore[arg-type]  # rankings are no stream
    (one, source), (other, _) = (read_run_lists(run, reading, []) for run in (run_a, run_b))
    queries, filled, same, common, values = compare(
        one, other, names_of_measures, p=persistence, ties=ties, threads=reading.threads
    )
    if not queries:
        raise EmptyError(
            "no query has documents in both runs",
            hint="compare the query ids of both runs",
            code="empty_input",
        )
    means = {name: mean(column) for name, column in values.items()}
    return RunAgreement(
        names=names or name_runs(run_a, run_b),
        means={name: value for name, (value, _) in means.items()},
        defined={name: count for name, (_, count) in means.items()},
        queries=len(queries),
        only_a=filled[0] - len(queries),
        only_b=filled[1] - len(queries),
        same_documents=same,
        p=persistence,
        ties=ties,
        table=Table({"query_id": queries, "common": common, **values}, source=source),
    )
