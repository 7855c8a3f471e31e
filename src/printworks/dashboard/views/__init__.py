"""How orders, issues and callbacks look to people, at either door."""
