"""How far unjudged documents could change a value."""
