"""HTTP: middleware, the dispatcher, request bodies and queries, problems, and OpenAPI."""

from __future__ import annotations
