"""Outbound HTTP to addresses that merchants choose, and never into our own network."""
