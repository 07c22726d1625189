"""The settings of an evaluation, which every function reads in the same way."""
