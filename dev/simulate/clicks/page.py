"""The page about click logs."""

from __future__ import annotations

from dev.environments import ROOT
from dev.simulate.clicks.cases import FEWEST, list_cases
from dev.simulate.compare.chance import ENOUGH, ERRORS
from dev.simulate.record import Page

HEAD = f"""Click logs are drawn from policies whose value is known. Shares are in
percent with their Monte Carlo error. *Answered* is the share of logs that have an interval; for the
others, rankscope gives a reason instead. The command fails if 95 % intervals cover less than 95 %
by more than {ERRORS:g} of these errors, or, with fewer than {ENOUGH:,} intervals, if chance would
hardly ever give it. Rows in which few logs have an interval, fewer than {FEWEST}, show no share.
"""
POLICIES = """## Value of a policy

`evaluate_off_policy`, with the items' rates as predictions (`dr`). *Share* is the effective
share of the log in percent. `few`: the old policy rarely shows what the new one always does.
`greedy`: the old policy mostly shows one item, and the new one all alike. `wide`: 200 items with
lognormal weights. *Bias* is the mean error of `dr` in percent of the value, over all logs.

| policies | share | click rate | rows | answered | ips covers | snips covers | dr covers | bias |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
LIMITS = """## Lower limits

`clipped` of `evaluate_off_policy`, in the logs in which no other estimator has an interval
(*refused*). `rare`: a tenth of the choices of the new policy are an item that the old one hardly
shows. *Limit* is the share of logs in which it has a lower limit and the others have nothing.
*Holds* is how often that is below the value, *mean* its mean in percent of the value, and *better*
how often it shows that the new policy is better than the log.

| policies | share | click rate | rows | refused | limit | holds | mean | better |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""

CLICKS = Page(
    about="clicks",
    title="Coverage of estimates from click logs",
    folder=ROOT / "dev" / "simulate" / "clicks" / "records",
    head=HEAD,
    tables={"policies": POLICIES, "limits": LIMITS},
    list_cases=list_cases,
)
