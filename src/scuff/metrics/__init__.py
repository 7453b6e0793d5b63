"""Numbers from texts, labels and scores. No models, no disk."""
