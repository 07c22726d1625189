"""Simulations of how rankings are used: label delay, and the ranks of labels."""
