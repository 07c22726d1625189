"""The door to the core: arguments become requests, and inputs become columns."""
