"""Runs the migrations on the connection that `schema.migrate` opened."""

from typing import Any, Literal

from alembic import context
from sqlalchemy import JSON

from printworks.store.engine import columns
from printworks.store.tables import metadata


def render_item(kind: str, item: Any, autogenerate: Any) -> str | Literal[False]:
    """Write our own column types by their name when a migration is generated."""
    if isinstance(item, columns.EnumText):
        return "sa.Text()"
    if kind == "type" and type(item).__module__ == columns.__name__:
        autogenerate.imports.add("from printworks.store import columns")
        return f"columns.{type(item).__name__}()"
    return "columns.Json" if isinstance(item, JSON) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_item=render_item,
    render_as_batch=True,
    transactional_ddl=True,
    transaction_per_migration=False,
)
context.run_migrations()
