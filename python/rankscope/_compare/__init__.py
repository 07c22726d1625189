"""The comparison of runs, and its tables for terminals, reviews and papers."""
