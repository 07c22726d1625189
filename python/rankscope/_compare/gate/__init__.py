"""Decides whether a candidate may replace a baseline: budgets, their checks, and summaries."""
