"""Rung: from `nn.Linear` to a fused MLP, one rung at a time. Guess first, then look."""
