"""Fuzzes the readers that are written in Python."""
