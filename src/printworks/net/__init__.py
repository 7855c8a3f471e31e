"""The only way out: requests to addresses that strangers chose, and never to our own network."""
