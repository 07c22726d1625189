"""Means estimated from few human judgments and many of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope._evaluate.evaluation import find_mean
from rankscope._names import as_dict
from rankscope._settings import Policy
from rankscope._show import Printed, Tabular
from rankscope._show.diagnostics import Diagnostic
from rankscope._show.table import Table, format_value, show
from rankscope.judges.reliability import JudgeAgreement
from rankscope.measures import Measure

if TYPE_CHECKING:
    from rankscope._show.table import ColumnValues


WEAK_GAIN = 1.1
"""Below this gain, the model's judgments aren't worth their assumptions."""
GOOD = 0.7
"""A model with such a correlation isn't the reason for a wide interval."""
LARGE_SHIFT = 3.0
"""So many standard errors are more than chance."""
WORTH = "worth: as precise as this many times the human queries"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudgedMean:
    """The mean of a measure, or a difference of two means, estimated with a model's judgments.

    Args:
        measure: The measure.
        value: The estimate; NaN if people judged no query that counts.
        lower: The lower end of its interval; NaN if there is none.
        upper: The upper end of its interval; NaN if there is none.
        method: What the interval promises, as in `rankscope.Interval`: `"bounded"` or `"dense"`;
            empty if there is none.
        human: The mean from the human judgments alone.
        human_lower: The lower end of the interval from the human judgments alone.
        human_upper: The upper end of the interval from the human judgments alone.
        model: The mean over all queries by the model's judgments.
        weight: The weight of the model's values in the estimate, called lambda in PPI++: 0 ignores
            the model, 1 trusts its differences between queries fully.
        correlation: The correlation between human and model values of the queries that both judged.
        gain: About how many times as many human queries would give an interval of the same width
            without the model: the squared ratio of the widths.
        shift: How far the model's mean over the human queries is above that over the other queries,
            in standard errors.
        human_queries: The number of queries that people judged.
        queries: The number of all queries, which the model judged.
        changed: The number of queries that count: in the others, the run and the baseline have the
            same documents in the same order. Of documents, the number of those whose discounts
            differ.
        human_changed: How many of these people judged.
        next_query: The query that people should judge next; `None` if they judged all that count.
        next_document: Of single documents, the document of this query; else `None`.
        narrowing: How much narrower the interval probably becomes by that; NaN if that isn't known.
    """

    measure: Measure
    value: float
    lower: float
    upper: float
    method: str
    human: float
    human_lower: float
    human_upper: float
    model: float
    weight: float
    correlation: float
    gain: float
    shift: float
    human_queries: int
    queries: int
    changed: int
    human_changed: int
    next_query: str | None
    next_document: str | None
    narrowing: float

    def to_dict(self) -> dict[str, object]:
        """Return the numbers by name."""
        fields = as_dict(self)
        del fields["measure"], fields["shift"]
        return fields

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the estimate useless or doubtful, and what to do about it."""
        texts = []
        if self.changed and not self.human_changed:
            texts.append(
                f"people judged none of the {self.changed} queries in which the runs differ, so "
                "that the interval only says how far these could move the mean. Draw queries for "
                "people from them."
            )
        elif not self.method:
            texts.append(
                "there is no interval, because all human values are the same and nothing limits "
                "the others. Judge more, or use a measure with limits, such as nDCG."
            )
        elif self.gain < WEAK_GAIN and self.queries == self.human_queries:
            texts.append(
                "the model's judgments add nothing, because it judged no more queries than people. "
                "Let it judge more, and check that human and model judgments aren't swapped."
            )
        elif not self.weight and self.correlation > 0 and self.changed:
            texts.append(
                f"the model's judgments have no weight. People judged {self.human_changed:,} of "
                f"{self.changed:,} that count: with fewer than about 50, or nearly all of them, "
                "the model doesn't narrow a bounded interval. Judge more, or write "
                "Interval(method='dense') if the values aren't nearly all alike."
            )
        elif self.gain < WEAK_GAIN and self.changed:
            advice = "" if self.correlation > GOOD else ", or improve the model's instructions"
            texts.append(
                "the model's judgments hardly narrow the interval (correlation with human values "
                f"{self.correlation:.2f}, weight {self.weight:.2f}). To narrow it, judge more by "
                f"hand{advice}."
            )
        if abs(self.shift) > LARGE_SHIFT:
            side = "higher" if self.shift > 0 else "lower"
            texts.append(
                "the human queries are not a random sample: the model's values for them are "
                f"{side} than for the others by {abs(self.shift):.1f} standard errors. Draw the "
                "queries for people at random from all queries."
            )
        return tuple(f"{self.measure}: {text}" for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudgedEvaluation(Printed, Tabular):
    """Means estimated from human and model judgments; as a table, one row per measure.

    Args:
        means: The estimate for each measure.
        level: The confidence level of the intervals.
        policy: The policy.
        is_difference: Whether values are differences: those of the run minus those of the baseline.
        agreement: How well the model and people agree on the documents that both judged; `None` if
            there are too many different grades.
        not_modelled: The number of queries with human judgments that the model did not judge. They
            are left out.
        human_documents: The number of documents that people judged, where these are a sample;
            `None` if people judged whole queries.
        notes: Notes about the grades.
    """

    means: tuple[ModelJudgedMean, ...]
    level: float
    policy: Policy
    is_difference: bool
    agreement: JudgeAgreement | None
    not_modelled: int
    human_documents: int | None = None
    notes: tuple[Diagnostic, ...] = ()

    def __getitem__(self, measure: Measure | str) -> ModelJudgedMean:
        return find_mean(self.means, measure)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the estimates useless or doubtful, and what to do about it."""
        of_judges = () if self.agreement is None else self.agreement.warnings
        return (*(text for mean in self.means for text in mean.warnings), *of_judges)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measures": {mean.measure.name: mean.to_dict() for mean in self.means},
            "level": self.level,
            "is_difference": self.is_difference,
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "not_modelled": self.not_modelled,
            "human_documents": self.human_documents,
            "warnings": list(self.warnings),
            "policy": self.policy.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        rows = [{"measure": mean.measure.name, **mean.to_dict()} for mean in self.means]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _parts(self) -> list[str | Table]:
        first = self.means[0]
        sample = f"{first.human_queries} of them by people"
        if self.human_documents is not None:
            sample = f"and {self.human_documents} documents by people"
        elif first.changed < first.queries:
            sample += (
                f"\nthe runs differ in {first.changed} queries, of which people judged "
                f"{first.human_changed}"
            )
        methods = " and ".join(dict.fromkeys(mean.method for mean in self.means if mean.method))
        what = "differences" if self.is_difference else "means"
        parts: list[str | Table] = [
            f"{what} over {first.queries} queries judged by the model, {sample}",
            "",
            self._summarize(),
            "",
            f"{methods or 'no'} intervals of {100 * self.level:g}%; {WORTH}",
        ]
        if first.next_query is not None:
            parts.append(_name_next(first))
        if self.agreement is not None:
            pair = self.agreement.pairs[0]
            parts.append(
                f"documents judged by both: {pair.items}, the same grade {100 * pair.exact:.1f}%, "
                f"quadratic kappa {pair.kappa_quadratic:.2f}, alpha "
                f"{self.agreement.alpha_ordinal:.2f}"
            )
        if self.not_modelled:
            parts.append(
                f"human queries that the model did not judge, left out: {self.not_modelled}"
            )
        parts += [f"warning: {show(text)}" for text in self.warnings]
        return [*parts, f"policy: {self.policy}", *(f"note: {show(str(n))}" for n in self.notes)]

    __repr__ = Printed.__str__

    def _summarize(self) -> Table:
        means = self.means
        return Table(
            {
                "measure": [mean.measure.name for mean in means],
                "value": [mean.value for mean in means],
                "interval": [_join_ends(mean.lower, mean.upper) for mean in means],
                "human alone": [
                    f"{format_value(mean.human)} ({_join_ends(mean.human_lower, mean.human_upper)})"
                    for mean in means
                ],
                "model": [mean.model for mean in means],
                "weight": [f"{mean.weight:.2f}" for mean in means],
                "worth": [f"{mean.gain:.1f}×" for mean in means],
            },
            numbers=("interval", "human alone", "weight", "worth"),
        )


def _join_ends(lower: float, upper: float) -> str:
    return f"{format_value(lower)} to {format_value(upper)}"


def _name_next(mean: ModelJudgedMean) -> str:
    what = show(str(mean.next_query))
    if mean.next_document is not None:
        what = f"document {show(mean.next_document)} of {what}"
    if math.isnan(mean.narrowing):
        return f"judge {what} next"
    narrower = f"{mean.narrowing:.2g} narrower"
    return f"judge {what} next: the interval of {mean.measure} probably becomes {narrower}"
