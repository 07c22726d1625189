"""What a value lacks: retrieval, truncation and ordering loss."""
