"""Tests for extensions of rankscope; they need pytest."""
