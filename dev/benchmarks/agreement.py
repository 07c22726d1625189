"""Refuse to report the time of a wrong number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dev.benchmarks.corpora.expected import Expected
    from dev.benchmarks.workloads import Contender

# Tools add up in different orders; and a table shows four places.
SLACK = {"report": 1e-9, "table": 0.5e-4 + 1e-9, "trec_eval": 0.5e-4 + 1e-9}
TREC_EVAL = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recip_rank": "RR"}


class WrongMeanError(Exception):
    """A tool gave another mean than the one that its conventions ask for."""


def check_means(
    contender: Contender, means: dict[str, float], expected: dict[str, Expected]
) -> None:
    """Compare the means of a tool with those computed when the corpus was drawn.

    Args:
        contender: The tool, with its rule for ties.
        means: What it gave, by measure.
        expected: What is right, by measure.

    Raises:
        WrongMeanError: A measure is missing, or its mean is wrong.
    """
    if contender.measures is not None:
        expected = {name: expected[name] for name in contender.measures}
    if means.keys() != expected.keys():
        raise WrongMeanError(
            f"{contender.name}: expected the measures {', '.join(expected)}, "
            f"found {', '.join(means) or 'none'}."
        )
    slack = contender.within or SLACK[contender.prints]
    for measure, right in expected.items():
        least, most = (
            (right.doc_id, right.doc_id)
            if contender.ties == "doc_id"
            else (right.worst, right.best)
        )
        # Written so that NaN is wrong too.
        if not least - slack <= means[measure] <= most + slack:
            raise WrongMeanError(
                f"{contender.name}: expected {measure} from {least:.12f} to {most:.12f}, "
                f"found {means[measure]:.12f}."
            )


def read_table(output: str) -> dict[str, float]:
    """Read the means that a command line prints.

    Args:
        output: Lines of a measure, a tab and its mean.

    Returns:
        Means by measure.
    """
    rows = (line.split("\t") for line in output.splitlines())
    return {measure: float(mean) for measure, mean in rows}


def read_trec_eval(output: str) -> dict[str, float]:
    """Read the means that trec_eval prints, of which only some are known.

    Args:
        output: Lines of a measure, a query or `all`, and a value, between tabs and blanks.

    Returns:
        Means by the canonical names of the measures.
    """
    rows = (line.split() for line in output.splitlines())
    found = {measure: value for measure, query, value in rows if query == "all"}
    return {name: float(found[measure]) for measure, name in TREC_EVAL.items()}
