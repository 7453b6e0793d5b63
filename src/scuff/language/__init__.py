"""What is known about English: tags, word forms, WordNet. Needs the extra `english`; loads it when used."""
