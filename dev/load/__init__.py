"""How many rankings a second the service takes, how soon it answers, and whether all is right."""

from __future__ import annotations
