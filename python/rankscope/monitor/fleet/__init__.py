"""All projects at once: how each model stands, and what happened in a week."""
