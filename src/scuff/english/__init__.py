"""What is known about English: tags, word forms, WordNet, rewording rules. Needs the extra `english`, loaded when used."""
