"""The page about comparisons."""

from __future__ import annotations

from dev.environments import ROOT
from dev.simulate.compare.cases import (
    BUDGET,
    DENSE_COVERED,
    FEW_SAMPLES,
    FEWEST_ONE_SIDED,
    LEVEL,
    MANY_SAMPLES,
    POWER,
    SAMPLES,
    TEST_SAMPLES,
    list_cases,
)
from dev.simulate.compare.chance import ENOUGH, ERRORS, find_error
from dev.simulate.compare.corrections import MEASURES, PERMUTATIONS, RUNS
from dev.simulate.record import Page

HEAD = f"""Samples of queries are drawn from distributions whose mean is known, with the functions
that `rankscope compare` and `rankscope gate` call. Shares are in percent with their Monte Carlo
error. The command fails if a share is beyond what is promised by more than {ERRORS:g} of these
errors, or, with fewer than {ENOUGH:,} samples, if chance would hardly ever give it.

Without `--times`, a row has {SAMPLES:,} samples (intervals and margins), {TEST_SAMPLES:,}
(tests), {MANY_SAMPLES:,} (corrections and gates) or {FEW_SAMPLES:,} (plans and judges, half as many
where documents are judged). Queries are sampled each by itself, or by users whose queries are
alike: five each, as many as a Pareto distribution says, or half of them by one user; or each by
itself, with a weight from 1 to 10.
"""
INTERVALS = f"""## Intervals

The share of 95 % intervals that cover the mean, and their mean width as a multiple of that of a t
interval that knows the standard error of the mean. Bounded intervals have to cover in 95 %, and
dense ones in {100 * DENSE_COVERED:g} % where the values are as they assume: more than 25 times as
many as their squared skewness (a rule of Cochran), and than 10 times their excess kurtosis, by
Kish's effective number of users. What isn't promised is in italics. The last column is the share of
samples that have no t interval, for lack of degrees of freedom.

| values | sampled | n | bounded, % | width | dense, % | width | t, % | width | no t |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
MARGINS = f"""## Margins

The share of comparisons with a margin of {BUDGET} and {5 * BUDGET:g} in which a run, or any of
several, is called not worse than the baseline, or equivalent to it, although it is worse by exactly
the margin: at most {50 * LEVEL:g} % are allowed, as half of the misses of an interval are on that
side. Intervals are dense, so the share is in italics where differences aren't as they assume, or
are fewer than {FEWEST_ONE_SIDED}. Beside it, how often a run that is as good is called not worse.

| values | n | {BUDGET}: not worse | equivalent | rightly | {5 * BUDGET:g} | equivalent | rightly |
|---|--:|--:|--:|--:|--:|--:|--:|
"""
TESTS = f"""## Tests

The share of samples in which two equally good runs differ significantly (p ≤ {LEVEL}), in percent;
5 % are promised, and have a Monte Carlo error of {100 * find_error(LEVEL, TEST_SAMPLES):.1f}. Where
a test doesn't promise it, the share is in italics: if differences are skewed (`skewed`: many
queries lose a little, few gain much), t and permutation tests hold approximately and better with
more queries, while the Wilcoxon test misleads, and says so. `mass` has values with much mass at 0,
and `symmetric` values like those of nDCG. `n` counts users where there are any; a t test without
enough degrees of freedom rejects nothing.

| values | n | t | permutation | Wilcoxon |
|---|--:|--:|--:|--:|
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
budget: a gate promises to call it broken in at most 2.5 % of the samples, and to call it held in at
most 2.5 %. With slices, this holds for all slices together. The last columns show how often a gate
finds a drop of {4 * BUDGET:g}, and passes a gain of {2 * BUDGET:g}; in all other samples it says
that the data don't decide.

| values | sampled | n | broken, % | holds, % | finds a drop | passes a gain |
|---|---|--:|--:|--:|--:|--:|
"""
PLANS = f"""## Plans

An inconclusive gate of `n` queries says about how many queries hold a budget of {BUDGET} in
{100 * POWER:g} % of gates if the candidate is as good as the baseline, and a range for this number.
The medians of the lower end, of the number and of the upper end, and how often the budget holds
with so many queries: with the upper end, it has to hold in {100 * POWER:g} %.

| values | n | lower end | holds, % | number | holds, % | upper end | holds, % |
|---|--:|--:|--:|--:|--:|--:|--:|
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

COMPARISONS = Page(
    about="comparisons",
    title="Coverage and error rates of comparisons",
    folder=ROOT / "dev" / "simulate" / "compare" / "records",
    head=HEAD,
    tables={
        "intervals": INTERVALS,
        "margins": MARGINS,
        "tests": TESTS,
        "corrections": CORRECTIONS,
        "gates": GATES,
        "plans": PLANS,
        "judges": JUDGES,
    },
    list_cases=list_cases,
)
