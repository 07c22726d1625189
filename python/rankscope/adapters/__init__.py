"""The edge: what judgments and runs may come as, and how each is read."""

from __future__ import annotations

from rankscope.adapters.inputs import Input as Input
from rankscope.adapters.inputs import recognise as recognise
from rankscope.adapters.reading import rank_run as rank_run
from rankscope.adapters.reading import read_judgments as read_judgments
from rankscope.adapters.reading import read_run as read_run
