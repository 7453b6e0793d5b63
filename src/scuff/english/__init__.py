"""English: tags, word forms, WordNet, rewording rules. Needs the extra `english`; data are loaded when they are used."""
