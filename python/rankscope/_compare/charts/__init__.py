"""Plots of comparisons: their data, and how they are drawn."""
