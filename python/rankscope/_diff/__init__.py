"""Two runs: which queries and documents make the difference."""
