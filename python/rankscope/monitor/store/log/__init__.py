"""The history of a store: hours that are final, as Parquet files in a folder beside it."""
