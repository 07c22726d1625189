"""Plots of comparisons."""
