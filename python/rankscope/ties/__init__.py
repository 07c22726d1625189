"""How much values depend on the order of tied documents."""
