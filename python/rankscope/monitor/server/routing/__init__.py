"""Routes: endpoints, the middleware and the dispatcher before them, the pool, and OpenAPI."""

from __future__ import annotations
