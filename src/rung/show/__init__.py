"""Plain data -> terminal, JSON. Computes nothing."""
