"""The parts of the benchmark: one file each, with one function that returns lines."""
