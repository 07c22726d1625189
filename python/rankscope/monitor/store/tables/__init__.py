"""The tables of a store and the statements that read and write them, for any SQL database."""
