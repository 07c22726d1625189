"""Discounts of ranks: tables, and what they exchange."""
