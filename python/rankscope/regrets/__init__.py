"""What each document and each rank costs."""
