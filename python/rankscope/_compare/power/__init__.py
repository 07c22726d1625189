"""How many queries a comparison needs."""
