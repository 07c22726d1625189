"""Rules of the kind `data`: rankings, labels or attribute values don't arrive as usual."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from rankscope.monitor.rules.rule import Rule
from rankscope.monitor.rules.settings import LISTED, FalseAlarms, Setting, described, keep_if

Watch = Literal[
    "volume",
    "freshness",
    "files",
    "labels",
    "label_freshness",
    "relevance",
    "attributes",
    "versions",
    "names",
]
Watches = Annotated[
    tuple[Watch, ...],
    keep_if(lambda watches: len(set(watches)) == len(watches)),
    LISTED,
    described(uniqueItems=True),
    Setting(
        "what is watched",
        f"different words among {', '.join(get_args(Watch))}, in a list",
        label="Data to watch",
        unset="everything",
        option="--watch",
        metavar="WHAT",
        words=(
            ("volume", "volume: fewer or more rankings than usual"),
            ("freshness", "freshness: no rankings arrive"),
            ("files", "files: files of a data lake can't be read"),
            ("labels", "labels: fewer or more labels than usual"),
            ("label_freshness", "label_freshness: no labels arrive"),
            ("relevance", "relevance: more rankings without a relevant document"),
            ("attributes", "attributes: values vanish, appear or are missing"),
            ("versions", "versions: models and versions vanish"),
            ("names", "names: labels and attributes match nothing"),
        ),
    ),
]


class DataRule(Rule):
    """A condition on the data of a project; see `Rule`."""

    kind: Literal["data"]
    false_alarms: FalseAlarms = 0.05
    watches: Watches = ()

    def find_basis(self, _configuration: object) -> str:
        """Return the same for all: nothing voids what is known of hours."""
        return ""

    def describe(self) -> str:
        """Describe the rule in a sentence."""
        return "Alerts when rankings or labels don't arrive as usual."
