"""What the processes of one deployment share and nobody else may know."""

from sqlalchemy import Column, Table, Text

from printworks.store.tables.base import metadata

# What the processes of one deployment share and nobody else may know.
secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
