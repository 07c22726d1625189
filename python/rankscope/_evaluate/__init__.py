"""Evaluation: rankings from any input, and the values of measures."""
