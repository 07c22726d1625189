"""The pages of the service: each a view of a monitor and a template."""
