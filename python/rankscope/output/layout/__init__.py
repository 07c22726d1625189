"""One description of what a result shows, and a writer for each format."""
