"""Versions of the catalogue."""
