"""Drawings in SVG, for a page, a README or a slide. Each takes plain data and gives one `<svg>` as text."""
