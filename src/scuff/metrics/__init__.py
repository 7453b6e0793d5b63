"""Numbers from texts, labels and scores."""
