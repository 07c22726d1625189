"""Writes gains, discounts and sums with their numbers."""

from __future__ import annotations

import math

from rankscope.derivation.write.blocks import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.derivation.explanation import (
        Explanation,
        IdealRow,
        RelevanceExplanation,
        RelevanceRow,
        Row,
    )
    from rankscope.measures import Measure

MOST_TERMS = 12
"""A longer sum is cut short."""

MORE = Term("…", r"\cdots")


MOST = 1e15
"""Numbers from here on are written with an exponent."""


def write_fixed(value: float, digits: int) -> str:
    """Write a number with a fixed number of decimals, a dash if it is undefined.

    Examples:
        >>> [write_fixed(value, 4) for value in (5.0, 1.29203, 2.0**80, math.nan)]
        ['5.0000', '1.2920', '1.2089e+24', '–']
    """
    if math.isnan(value):
        return "–"
    return f"{value:.{digits}f}" if abs(value) < MOST else f"{value:.{digits}e}"


def write_number(value: float, digits: int) -> str:
    """Write a number with decimals, an integer without.

    Examples:
        >>> [write_number(value, 4) for value in (5.0, 1.29203, 0.00001, -0.5)]
        ['5', '1.2920', '1e-05', '-0.5000']
    """
    if value.is_integer() and abs(value) < MOST:
        return str(int(value))
    return write_fixed(value, digits) if abs(value) >= 10**-digits else f"{value:.3g}"


def write_exactly(value: float) -> str:
    """Write a number with all its digits, an integer without decimals.

    Examples:
        >>> write_exactly(5.0), write_exactly(0.1)
        ('5', '0.1')
    """
    return str(int(value)) if value.is_integer() and abs(value) < MOST else repr(value)


def write_share(measure: Measure, *, is_latex: bool = False) -> str:
    """Write the general formula for a gain g at a rank r."""
    divisor = _divisor(measure, "r", "r + 1", is_latex=is_latex)
    if divisor is None:
        return r"g \cdot w_r" if is_latex else "g × w(r)"
    if is_latex:
        return rf"\frac{{g}}{{{divisor}}}"
    return f"g/({divisor})" if divisor == "r + 1" else f"g/{divisor}"


def list_terms(measure: Measure, rows: Iterable[Row | IdealRow], digits: int | None) -> list[Term]:
    """Write the discounted gains at ranks, without those that are 0."""
    return [_term(measure, row, digits) for row in rows if row.gain != 0]


def list_values(values: Iterable[float], digits: int) -> list[Term]:
    """Write the terms of a sum, without those that are 0."""
    kept = [value for value in values if value != 0]
    texts = [write_fixed(abs(value), digits) for value in kept]
    return [
        Term(text, text, is_negative=value < 0) for text, value in zip(texts, kept, strict=True)
    ]


def cut(terms: list[Term], *, is_whole: bool) -> tuple[Term, ...]:
    """Shorten a long sum. An empty sum is 0."""
    if len(terms) > MOST_TERMS:
        return (*terms[: MOST_TERMS - 1], MORE)
    return tuple(terms if is_whole else [*terms, MORE]) or (Term("0", "0"),)


def write_terms(terms: Iterable[Term]) -> list[str]:
    """Write each term of a sum with its sign.

    Examples:
        >>> write_terms([Term("4/log2(2)", ""), Term("1/log2(3)", "", is_negative=True)])
        ['4/log2(2)', '- 1/log2(3)']
    """
    written: list[str] = []
    for term in terms:
        sign = "-" if term.is_negative else "+"
        written.append(f"{sign} {term.text}" if written else f"{'-' * term.is_negative}{term.text}")
    return written


def write_formula(explanation: Explanation) -> str:
    """Write the value of an explanation as one formula with numbers."""
    measure = explanation.measure
    ideal = _join_all(
        list_terms(measure, explanation.ideal_rows, None),
        is_whole=len(explanation.ideal_rows) == explanation.ideal_size,
    )
    if measure.row.name == "IDCG":
        return ideal
    found = _join_all(
        list_terms(measure, explanation.rows, None),
        is_whole=not any(gap.gains for gap in explanation.gaps),
    )
    if measure.row.name != "nDCG":
        return found
    between = explanation.between
    if between is None:
        return f"({found}) / ({ideal})"
    worst, best = write_exactly(between.worst), write_exactly(between.best)
    return f"({found} - {worst}) / ({best} - {worst})"


def _join_all(terms: list[Term], *, is_whole: bool) -> str:
    return " ".join(write_terms(terms if is_whole else [*terms, MORE])) or "0"


def _term(measure: Measure, row: Row | IdealRow, digits: int | None) -> Term:
    def write(value: float) -> str:
        return write_exactly(value) if digits is None else write_number(value, digits)

    gain, is_negative = write(abs(row.gain)), row.gain < 0
    if measure.row.name == "CG":
        return Term(gain, gain, is_negative)
    ranks = str(row.rank), str(row.rank + 1)
    text = _divisor(measure, *ranks, is_latex=False)
    latex = _divisor(measure, *ranks, is_latex=True)
    if text is None:
        weight = write(row.discount)
        sign = "*" if digits is None else "×"
        return Term(f"{gain} {sign} {weight}", rf"{gain} \cdot {weight}", is_negative)
    return Term(f"{gain}/{text}", rf"\frac{{{gain}}}{{{latex}}}", is_negative)


def _divisor(measure: Measure, rank: str, after: str, *, is_latex: bool) -> str | None:
    """Write what a gain at a rank is divided by, `None` if ranks have weights."""
    settings = measure.parameters
    discount = settings.get("discount")
    base = settings.get("base")
    logarithm = _logarithm(base if isinstance(base, float) else 2.0, is_latex=is_latex)
    if discount in {"log2", "log"}:
        return f"{logarithm}({after})"
    if discount == "jk":
        largest = r"\max" if is_latex else "max"
        return f"{largest}(1, {logarithm}({rank}))"
    if discount == "reciprocal":
        return rank
    if discount == "linear":
        return after
    if discount == "zipf":
        s = settings["s"]
        power = write_exactly(s) if isinstance(s, float) else ""
        return f"{rank}^{{{power}}}" if is_latex else f"{rank}^{power}"
    return None


def _logarithm(base: float, *, is_latex: bool) -> str:
    if base == math.e:
        return r"\ln" if is_latex else "ln"
    written = write_exactly(base)
    if is_latex:
        return rf"\log_{{{written}}}"
    return f"log{written}" if base in {2, 10} else f"log_{written}"


def write_relevance(explanation: RelevanceExplanation) -> str:
    """Write the value of AP, RR, P or R as one formula with numbers."""
    if explanation.is_undefined:
        return "0 / 0"
    is_whole = not any(gap.gains for gap in explanation.gaps)
    terms = list_relevant(explanation.measure, explanation.rows, None)
    found = _join_all(terms, is_whole=is_whole)
    if explanation.measure.row.name == "RR":
        return found
    return f"({found}) / {explanation.denominator}"


def list_relevant(measure: Measure, rows: Iterable[RelevanceRow], digits: int | None) -> list[Term]:
    """Write the terms of relevant documents: precisions for AP, the first rank for RR, else 1."""
    terms = []
    for row in rows:
        if row.contribution == 0:
            continue
        if measure.row.name == "AP":
            # Precision knows how many were found, also of those that are not shown.
            count = write_exactly(float(round(row.precision * row.rank)))
            terms.append(Term(f"{count}/{row.rank}", rf"\frac{{{count}}}{{{row.rank}}}"))
        elif measure.row.name == "RR":
            terms.append(Term(f"1/{row.rank}", rf"\frac{{1}}{{{row.rank}}}"))
        else:
            share = row.contribution
            text = write_exactly(share) if digits is None else write_number(share, digits)
            terms.append(Term(text, text))
    return terms
