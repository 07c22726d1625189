"""Lets other processes of one machine write to a store through the process that holds it."""
