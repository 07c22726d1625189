"""How far two runs agree."""

from __future__ import annotations

from rankscope._evaluate.judgments import refuse_one_stdin_for_both
from rankscope.agreement.measures import DEFAULT, check_measures, check_settings, compare, mean
from rankscope.agreement.result import RunAgreement
from rankscope.difference.compute import name_runs
from rankscope.errors import EmptyError
from rankscope.fusion.inputs import read_run_lists
from rankscope.output.table import Table
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from rankscope._evaluate.rankings import Rankings
    from rankscope.agreement.measures import TieForm
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


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
    asked = check_measures(measures)
    persistence = check_settings(p, ties)
    reading = Reading.of("agreement", options)
    refuse_one_stdin_for_both(run_a, run_b)  # type: ignore[arg-type]  # rankings are no stream
    (one, source), (other, _) = (read_run_lists(run, reading, []) for run in (run_a, run_b))
    compared = compare(one, other, asked, p=persistence, ties=ties, threads=reading.threads)
    if not compared.query_ids:
        raise EmptyError(
            "no query has documents in both runs",
            hint="compare the query ids of both runs",
            code="empty_input",
        )
    table = Table(
        {"query_id": compared.query_ids, "common": compared.common, **compared.values},
        source=source,
    )
    means = {name: mean(values) for name, values in compared.values.items()}
    only_a, only_b = (count - len(compared.query_ids) for count in compared.filled)
    return RunAgreement(
        names=names or name_runs(run_a, run_b),
        means={name: value for name, (value, _) in means.items()},
        defined={name: count for name, (_, count) in means.items()},
        queries=len(compared.query_ids),
        only_a=only_a,
        only_b=only_b,
        same_documents=compared.same_documents,
        p=persistence,
        ties=ties,
        table=table,
    )
