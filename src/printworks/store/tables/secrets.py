"""What the processes of one deployment share; its secrets are sealed."""

from sqlalchemy import Column, Table, Text

from printworks.store.tables.base import metadata

secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
