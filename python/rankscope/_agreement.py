"""How alike the lists of two runs are, query by query."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

import rankscope as rs
from rankscope._cli.options import (
    add_encoding_option,
    add_file_options,
    add_format_options,
    add_score_type_option,
    add_threads_option,
    name_file,
    refuse_stdin_twice,
)
from rankscope._cli.parser import OnceFlag, Parser, print_csv, print_json, read_integer, read_number
from rankscope._diff.compute import name_runs
from rankscope._evaluate.evaluating import refuse_one_stdin_for_both
from rankscope._evaluate.evaluation import NotEvaluatedError
from rankscope._evaluate.rankings import Rankings
from rankscope._fuse.run import read_run_lists
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._names import as_dict
from rankscope._settings import Reading
from rankscope._show import Printed, Tabular
from rankscope._show.table import Table, format_value, show, show_lines
from rankscope.correlation import (
    DEFAULT,
    TIES,
    TieForm,
    check_measures,
    check_settings,
    compare,
    mean,
)
from rankscope.errors import EmptyError, UsageError
from rankscope.measures.parse import split_measures
from rankscope.typing import InputLike

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions
    from rankscope._show.table import ColumnValues


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAgreement(Printed, Tabular):
    """How far two runs agree, on average and per query.

    Args:
        names: The names of the two runs.
        p: The persistence of rank-biased overlap.
        ties: What a tie means: `a`, `b` or `w`.
        means: By measure, the mean over the queries for which it is defined; NaN if there is none.
        defined: By measure, the number of these queries.
        queries: The number of queries with documents in both runs. Only these are compared.
        only_a: The number of queries with documents in the first run alone.
        only_b: The number of queries with documents in the second run alone.
        same_documents: The number of queries with the same documents in both runs.
        table: A table with one row per query: `query_id`, `common` (the number of documents in both
            lists), and the measures. NaN means undefined.

    Examples:
        >>> one = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
        >>> other = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q3": {"x": 1.0}}
        >>> result = agreement(one, other, ["RBO", "tau", "overlap@1"])
        >>> round(result["RBO"], 4), round(result["tau"], 4), result["overlap@1"]
        (0.9, 0.3333, 0.0)
        >>> result.queries, result.only_a, result.only_b
        (1, 1, 1)
    """

    names: tuple[str, str]
    p: float
    ties: str
    means: Mapping[str, float]
    defined: Mapping[str, int]
    queries: int
    only_a: int
    only_b: int
    same_documents: int
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
        fields = as_dict(self) | {"means": dict(self.means), "defined": dict(self.defined)}
        runs, table = list(fields.pop("names")), fields.pop("table")
        return {"runs": runs, **fields, "per_query": table.to_dict()}

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.export()

    def __getitem__(self, measure: str) -> float:
        if measure not in self.means:
            raise NotEvaluatedError(measure, [*self.means])
        return self.means[measure]

    def _parts(self) -> list[str | Table]:
        one, other = map(show, self.names)
        means, defined = self.means, [*self.defined.values()]
        columns: dict[str, ColumnValues] = {
            "measure": [*means],
            "agreement": [*means.values()],
            "queries": defined,
        }
        lines = [f"{one} and {other}, p={self.p:g}, ties={self.ties}"]
        if self.same_documents < self.queries and {"tau", "tau_ap"} & {*means}:
            same = f"{self.same_documents} of {self.queries}"
            lines.append(f"queries with the same documents in both runs: {same}")
            lines.append("tau and tau_ap compare the documents that are in both")
        for name, count in ((one, self.only_a), (other, self.only_b)):
            if count:
                lines.append(f"queries in {name} only, not compared: {count}")
        return [Table(columns), *lines]

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
    compared = compare(
        one, other, names_of_measures, p=persistence, ties=ties, threads=reading.threads
    )
    if not compared.queries:
        raise EmptyError(
            "no query has documents in both runs",
            hint="compare the query ids of both runs",
            code="empty_input",
        )
    means = {name: mean(column) for name, column in compared.values.items()}
    count, (in_a, in_b) = len(compared.queries), compared.filled
    columns: dict[str, ColumnValues] = {
        "query_id": compared.queries,
        "common": compared.common,
        **compared.values,
    }
    return RunAgreement(
        names=names or name_runs(run_a, run_b),
        p=persistence,
        ties=ties,
        means={name: value for name, (value, _) in means.items()},
        defined={name: count for name, (_, count) in means.items()},
        queries=count,
        only_a=in_a - count,
        only_b=in_b - count,
        same_documents=compared.same,
        table=Table(columns, source=source),
    )


DEPTH = 10


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("a", metavar="RUN_A", help="the first run; - reads standard input")
    parser.add_argument("b", metavar="RUN_B", help="the second run, which is compared with it")
    parser.add_argument(
        "-m",
        "--measure",
        action="append",
        metavar="MEASURE",
        help="measure, or several separated by commas; one of: RBO, RBO_min, RBO_max, "
        "RBO_residual, tau, tau_ap, overlap@10, jaccard@10 with any depth "
        f"(default: {', '.join(DEFAULT)})",
    )
    parser.add_argument(
        "--p",
        type=read_number,
        metavar="P",
        default=0.9,
        help="persistence of rank-biased overlap, between 0 and 1 (default: 0.9)",
    )
    parser.add_argument(
        "--k",
        type=read_integer,
        metavar="K",
        help=f"depth of the overlap if no measures are chosen (default: {DEPTH})",
    )
    parser.add_argument(
        "--ties",
        choices=TIES,
        default="a",
        metavar="FORM",
        help="what equal scores mean: any order, by its expected value (a); the same, corrected "
        "for ties (b); or the same rank (w)",
    )
    parser.add_argument(
        "-q", "--per-query", action=OnceFlag, help="print the value of each query in both runs"
    )
    add_format_options(parser)
    add_score_type_option(parser)
    add_encoding_option(parser)
    add_threads_option(parser)
    add_file_options(parser)
    parser.add_examples(
        "rankscope agreement bm25.run dense.run",
        "rankscope agreement bm25.run dense.run -m RBO,jaccard@20 --p 0.95 -q",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    """Compare the runs, and print how far they agree."""
    refuse_stdin_twice([options.a, options.b])
    one, other = shorten_names([name_path(path, "run") for path in (options.a, options.b)])
    result = rs.agreement(
        name_file(options.a, "run", options),
        name_file(options.b, "run", options),
        _read_measures(options),
        p=options.p,
        ties=options.ties,
        names=(one, other),
        score_type=options.score_type or "float64",
        encoding=options.encoding,
        threads=options.threads,
    )
    if options.json:
        document = result.to_dict()
        if not options.per_query:
            del document["per_query"]
        print_json(document)
    elif options.csv:
        print_csv([result.table.names, *result.table.rows()])
    else:
        if options.per_query:
            queries = result.table.column("query_id")
            for name in result.means:
                for query, value in zip(queries, result.per_query(name).tolist(), strict=True):
                    print(name, show(str(query)), format_value(value), sep="\t")
        print(show_lines(str(result)))
    return 0


def _read_measures(options: Namespace) -> list[str]:
    if options.measure is None:
        return [*DEFAULT[:-1], f"overlap@{DEPTH if options.k is None else options.k}"]
    if options.k is not None:
        raise UsageError(
            "--k sets the depth of the default measures, found it with -m",
            hint=f"write the depth with the measure: -m overlap@{options.k}",
            code="usage",
        )
    return split_measures(options.measure)
