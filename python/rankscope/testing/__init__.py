"""A check of quality for test suites, and tests for extensions of rankscope, which need pytest."""

from __future__ import annotations

from rankscope.testing.quality import assert_not_worse as assert_not_worse
