"""The pages of the service: each a view of a monitor, a template, and a twin in JSON."""
