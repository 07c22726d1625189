"""The value of a query, derived by hand: every term, the ideal order, what would raise it."""
