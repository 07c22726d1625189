"""Files of tables: CSV, JSON Lines, Parquet, Arrow, SVMlight; read batch by batch with PyArrow.

`formats` tells what a file is, and loads nothing else; `table` opens it.
"""
