"""What an operator sees of a running installation: readiness, counts, metrics and traces."""
