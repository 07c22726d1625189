"""Input: reads judgments and runs from files, tables, dicts and arrays."""
