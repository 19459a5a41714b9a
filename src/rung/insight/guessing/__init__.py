"""How a guess is written, measured and judged. The public face is `rung.insight.guess`."""
