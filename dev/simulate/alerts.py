"""The page about alerts."""

from __future__ import annotations

from dev.environments import ROOT
from dev.simulate.cases import list_cases
from dev.simulate.record import Page
from dev.simulate.traffic import BASELINE_DAYS, DAYS
from dev.simulate.trials import CHANGE_DAY, FIXED_DAY, SEED, TOLERANCE
from dev.simulate.watch import FALSE_ALARMS

HEAD = f"""Quarters of {DAYS} days after a baseline of {BASELINE_DAYS} days, with 200 searches a day
unless another number is named, and a tolerance of {TOLERANCE}. At most
{FALSE_ALARMS:.0%} of the quarters may have a false alarm. Users come back and differ by
a standard deviation of 0.1 unless said otherwise; values spread over 0 to 1, with mass at both
ends. The simulation calls the functions that the monitor calls. Seed {SEED}.
"""
CHOSEN = """The constants were chosen by looking at simulations: how sure the bound of the variance
between days is, with normal days of several variances and correlations, among them those of the
cases with 200 a day; the bets, the first
share of hourly streams, the ages of early values and the weights of discounts with the demo (seeds
1, 2, 6, and 11 to 13). The runs of the record have other seeds.

The command fails if a case is beyond what is required by three standard errors. With few runs
that says little: compare the figures themselves, and the number of runs.
"""
QUIET = """## Quarters without a change

The number and share of quarters with an alarm of any stream. At most 5 % are allowed.

| case | quarters | with an alarm | share |
|---|--:|--:|--:|
"""
FOUND = f"""## Time to detection

The change comes on day {CHANGE_DAY + 1}; that day counts as 1. The days within which half and nine
of ten runs had found it. Runs in which a false alarm is still open when the change comes are
left out of this table, and are in the one above. The fall ends on day {FIXED_DAY + 1}: the last
columns say after how many days half and nine of ten incidents had recovered, and in which share of
the runs one opened again.

| case | runs | half | nine of ten | share found | required | recovered; opened again |
|---|--:|--:|--:|--:|--:|--:|
"""
PEERS = """## Other rules

Days until a fall is found: their mean, in which falls that aren't found count as 45 days, and until
half and nine of ten are found, at an equal rate of false alarms. Each rule knows the tolerance. The
limits of the other rules are tuned so that exactly 5 % of other quarters of the same world without
a change have a false alarm, which nobody can do in production; the share is that of these quarters.
On average, at most 1.3 times the days of the best CUSUM or GLR are required.

| case | rule | quarters with a false alarm | mean | half | nine of ten |
|---|---|--:|--:|--:|--:|
"""
TRACES = """## Traces

Two windows of 4,000 searches each by 1,500 users, with five attributes. The share of runs in which
a trace names a cause, where nothing changed; or names exactly the slice that fell, as the first
cause.

| case | named | required |
|---|--:|--:|
"""

ALERTS = Page(
    about="alerts",
    title="False alarms and delays",
    folder=ROOT / "dev" / "simulate" / "records",
    head=f"{HEAD}\n{CHOSEN}",
    tables={"quiet": QUIET, "found": FOUND, "peers": PEERS, "traces": TRACES},
    list_cases=list_cases,
)
