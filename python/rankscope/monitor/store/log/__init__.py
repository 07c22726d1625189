"""The log of a store: rankings and labels in blocks of columns, each event once."""
