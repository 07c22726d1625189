"""HTTP: request bodies, queries and forms, and the answers to requests that are refused."""

from __future__ import annotations
