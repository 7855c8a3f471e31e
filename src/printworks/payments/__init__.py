"""How money is taken: a protocol, and one file for each way of taking it."""
