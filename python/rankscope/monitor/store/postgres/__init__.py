"""A store in a PostgreSQL database, which several processes write."""
