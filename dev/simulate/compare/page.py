"""The page about comparisons."""

from __future__ import annotations

from rankscope.data.interval import Interval

from dev.environments import ROOT
from dev.simulate.compare.cases import (
    BUDGET,
    FEW_SAMPLES,
    LEVEL,
    MANY_SAMPLES,
    MOST_REFUSED,
    SAMPLES,
    list_cases,
)
from dev.simulate.compare.chance import ENOUGH, ERRORS, find_error
from dev.simulate.compare.corrections import MEASURES, PERMUTATIONS, RUNS
from dev.simulate.record import Page

HEAD = f"""Samples of queries are drawn from distributions whose mean is known, with the functions
that `rankscope compare` and `rankscope gate` call. Shares are in percent with their Monte Carlo
error. The command fails if a share is beyond what is promised by more than {ERRORS:g} of these
errors, or, with fewer than {ENOUGH:,} samples, if chance would hardly ever give it.

Without `--times`, a row has {SAMPLES:,} samples (intervals and tests), {MANY_SAMPLES:,}
(corrections, gates and judges) or {FEW_SAMPLES:,} (judgments of documents). A clustered sample has
five queries per user, which are alike.
"""
INTERVALS = f"""## Intervals

The share of 95 % intervals that cover the mean, and their mean width, for `method="auto"` and, in
the last columns, for Student's t interval cut at the ends of the range. An interval may be refused
with {MOST_REFUSED} queries or users, or fewer. For values without an upper limit (`DCG`, `count`),
the share is in italics: their intervals are refused with few queries, and approximate with more.
The bootstrap has {Interval().resamples:,} resamples.

| values | n | users | method | covers, % | width | t covers, % | t width | refused |
|---|--:|--:|---|--:|--:|--:|--:|--:|
"""
TESTS = f"""## Tests

The share of samples in which two equally good runs differ significantly (p ≤ {LEVEL}), in percent;
5 % are promised, and have a Monte Carlo error of {100 * find_error(LEVEL, SAMPLES):.1f}. Where a
test doesn't promise it, the share is in italics: if differences are skewed (`skewed`: many queries
lose a little, few gain much), t, permutation and bootstrap tests hold approximately and better with
more queries, while the Wilcoxon and the sign test mislead, and say so. The bootstrap-shift test
warns if there are fewer than 25 queries or users. `mass` has values with much mass at 0, and
`symmetric` values like those of nDCG.

| values | n | users | t | permutation | bootstrap | Wilcoxon | sign | Tukey |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
CORRECTIONS = f"""## Corrections

A baseline is compared with {RUNS} runs under {MEASURES} measures in {RUNS * MEASURES} permutation
tests of {PERMUTATIONS:,} permutations. First, all runs are equally good; then half of them are
better than the baseline. Holm and max-T promise a false alarm in at most 5 % of the samples, and
Benjamini–Hochberg (BH) a mean share of false alarms of at most 5 %. The last column is the share of
true differences that were found.

| correction | n | users | any false, % | any false, half better, % | share false, % | found |
|---|--:|--:|--:|--:|--:|--:|
"""
GATES = f"""## Gates

The verdicts of a gate whose budget is a drop of {BUDGET}. First, the true drop is exactly the
budget: a gate promises to call it broken in at most 2.5 % of the samples. That it holds is as wrong
there; intervals of 95 % should miss the truth on this side in about 2.5 %, too, but are approximate
if values are skewed. The last columns show how often a gate finds a drop of twice the budget, and
passes a candidate that doesn't drop; in all other samples it says that the data don't decide.

| values | n | users | broken, % | holds, % | finds twice the budget | passes no drop |
|---|--:|--:|--:|--:|--:|--:|
"""
JUDGES = """## Model judges

The 95 % intervals of prediction-powered estimates, with `n` queries (or documents) judged by people
and all by a model: `good` errs a little, `biased` is far too generous, `weak` hardly knows
anything, `erratic` is exact but for a tenth of the queries, and `sparse` misses half of the few
relevant documents. Values are those of one run, nearly all 0 if they are `sparse`, or differences
of two runs that differ in some queries; people then judge queries drawn from all, or `drawn from
these`. Intervals are bounded, except for those of the models called `dense`. In the last columns,
the intervals from the same human judgments alone.

| model | values | n | all | covers, % | width | human only covers, % | its width | ratio |
|---|---|--:|--:|--:|--:|--:|--:|--:|
"""
SEVERAL = """## Several judges

The interval for all queries and judges that there might be, where judges differ in generosity, and
the one for queries only, which takes these judges as given and promises nothing about others.

| judges | n | covers, % | width | queries only covers, % | its width | ratio |
|--:|--:|--:|--:|--:|--:|--:|
"""

COMPARISONS = Page(
    about="comparisons",
    title="Coverage and error rates of comparisons",
    folder=ROOT / "dev" / "simulate" / "compare" / "records",
    head=HEAD,
    tables={
        "intervals": INTERVALS,
        "tests": TESTS,
        "corrections": CORRECTIONS,
        "gates": GATES,
        "judges": JUDGES,
        "several": SEVERAL,
    },
    list_cases=list_cases,
)
