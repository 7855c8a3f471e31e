"""Mail: how it is worded in each language, put together as a message, and handed to a server.

Nothing here knows the database. The mail server is chosen by the operator, as the database is, and
so it may be on a private network: the guard of `net/`, which keeps what merchants enter away from
such addresses, does not apply.
"""
