"""What other libraries answer on fixed input, kept in `tests/parity/golden`: `make parity`."""
