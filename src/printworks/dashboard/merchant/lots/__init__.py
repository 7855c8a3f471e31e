"""Work in lots: orders from files, many orders at once, and orders as a table."""
