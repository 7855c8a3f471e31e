"""What is sold: products, labs and shipping, read from a folder of TOML files."""
