"""Work in lots: many orders made from a file, or the same done to many orders."""
