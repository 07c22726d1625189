"""Splits a log of interactions into what a recommender may learn from and what tests it."""
