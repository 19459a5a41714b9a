"""How a gate is written and judged. The public face is `rung.insight.gate`."""
