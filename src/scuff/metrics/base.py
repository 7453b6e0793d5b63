"""placeholder until the metrics branch is merged"""
