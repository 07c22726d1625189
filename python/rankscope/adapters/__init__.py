"""Input: reads judgments and runs from files, tables, dicts and arrays."""

from __future__ import annotations

from rankscope.adapters.inputs import Input as Input
from rankscope.adapters.inputs import find_stream as find_stream
from rankscope.adapters.inputs import recognise as recognise
from rankscope.adapters.inputs import recognise_table as recognise_table
from rankscope.adapters.reading import open_joined as open_joined
from rankscope.adapters.reading import open_retrieved as open_retrieved
from rankscope.adapters.reading import rank_run as rank_run
from rankscope.adapters.reading import read_judgments as read_judgments
from rankscope.adapters.reading import read_run as read_run
from rankscope.adapters.reading import see_joined as see_joined
