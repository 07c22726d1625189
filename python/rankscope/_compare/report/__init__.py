"""The report: values of runs on one page, what they are made of, and how to reproduce them."""
