"""Simulations of how rankings are used: label delay, ranks of labels and slow decay."""
