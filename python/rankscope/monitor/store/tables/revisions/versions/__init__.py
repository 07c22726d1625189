"""The revisions of the tables, a file each."""
