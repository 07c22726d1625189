"""A store in one SQLite file: connections, durable commits, and the files beside the database."""
