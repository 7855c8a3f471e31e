"""A release that does not exist yet: the migrations of this one, and one that is made up."""

import shutil
from pathlib import Path
from textwrap import dedent, indent
from typing import Final

from printworks.store.tables import schema

# What a later release may do while this one still runs: it only adds.
ADDS: Final = """
    op.add_column("orders", sa.Column("gift_note", sa.Text()))
    op.add_column("merchants", sa.Column("tier", sa.Text(), nullable=False, server_default="plain"))
    op.create_table(
        "couriers",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("merchant_id", sa.BigInteger(), sa.ForeignKey("merchants.id")),
    )
    op.create_index("ix_orders_gift_note", "orders", ["gift_note"])
"""
NEXT: Final = f"{int(schema.LATEST) + 1:04}"


def write_next_release(folder: Path, upgrade: str, *, serves_from: str, step: str) -> Path:
    """Return a folder with all migrations and one more, which does what is given."""
    migrations = folder / f"migrations-{NEXT}"
    shutil.copytree(schema.MIGRATIONS, migrations)
    heading = dedent(f'''
        """Made up."""

        import sqlalchemy as sa
        from alembic import op

        revision = "{NEXT}"
        down_revision = "{schema.LATEST}"
        serves_from = "{serves_from}"
        step = "{step}"


        def upgrade() -> None:
    ''')
    body = indent(dedent(upgrade), "    ")
    (migrations / "versions" / f"{NEXT}_made_up.py").write_text(heading + body)
    return migrations


def write_additions(folder: Path) -> Path:
    """Return the migrations of a next release that this one works with."""
    return write_next_release(folder, ADDS, serves_from=schema.LATEST, step="expand")
