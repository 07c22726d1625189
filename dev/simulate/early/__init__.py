"""Early warnings: how often they are false, and how soon they come."""
