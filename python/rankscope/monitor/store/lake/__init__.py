"""Reads the rankings and labels of a project from files of a data lake, in place."""
