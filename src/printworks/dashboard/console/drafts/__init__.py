"""Forms in which an owner changes a draft of the catalogue."""
