"""The service: takes events over HTTP, and answers for each of them."""

from __future__ import annotations
