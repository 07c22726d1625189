"""Seeded stand-ins for public test collections, written as TREC files."""
