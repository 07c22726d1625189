"""Each kernel gives the value of its twin, to the last bit, under every variant and policy."""

from __future__ import annotations

import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Policy
from rankscope.measures import TABLE, Row
from rankscope.settings.policy import CHOICES

from tests.generated import examples
from tests.invariance.lists import Judged, judged_queries
from tests.invariance.variants import VARIANTS, values_of, variants

policies = st.builds(
    Policy,
    ties=st.sampled_from([ties for ties in CHOICES["ties"] if ties != "average"]),
    unjudged=st.sampled_from(CHOICES["unjudged"]),
    negative=st.sampled_from(["nonrelevant", "gain"]),
    empty=st.just("nan"),
)

ROWS = [row for row in TABLE.values() if row.of_grades]


def test_every_parameter_of_every_row_is_varied() -> None:
    for row in ROWS:
        for parameter in row.parameters:
            found = {
                repr(variant.parameters[parameter.name])
                for variant in VARIANTS
                if variant.row.name == row.name
            }
            given_values = [one for one in values_of(parameter) if one is not None]
            assert len(found) >= len(given_values), (row.name, parameter.name)


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@given(queries=st.lists(judged_queries(), min_size=1, max_size=2), policy=policies)
@examples(30)  # each of them goes through all variants of the row
def test_a_kernel_is_its_twin(row: Row, queries: list[Judged], policy: Policy) -> None:
    qrels = {f"q{number}": query.grades for number, query in enumerate(queries)}
    run = {f"q{number}": query.scores for number, query in enumerate(queries)}
    measures = variants(row)
    evaluation = rankscope.evaluate(qrels, run, measures, policy=policy)
    expected = [query.values(measures, policy) for query in queries]
    for measure, *values in zip(measures, *expected, strict=True):
        found = evaluation.per_query_list(measure)
        assert list(map(repr, found)) == list(map(repr, values)), measure
