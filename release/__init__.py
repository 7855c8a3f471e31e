"""What `make release` runs: the files of a release, the same bytes from the same commit."""
