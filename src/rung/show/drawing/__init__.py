"""Drawings in SVG, for a page, a README or a slide: each takes plain data."""
