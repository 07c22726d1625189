"""What rankscope is asked to do, a module an input."""

from __future__ import annotations
