"""The data of plots of comparisons."""
