"""A simulated release that harms one slice, as events, for the demo and the tests.

A music app logs each search, and later what listeners did with the tracks that they were shown.
After some weeks a new version of the model is released. On one device, it swaps the first and the
last track of every list.
"""
