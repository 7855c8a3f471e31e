"""Every migration leaves alone what the release before it still uses.

The tables before and after are compared as the database describes them, so it does not matter how
a migration is written.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Inspector, inspect

from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.next_release import ADDS, NEXT, write_next_release

Column = dict[str, Any]
# What it asks for, and the words in it, which are the names of columns among others.
Rule = tuple[str, frozenset[str]]


class Described(NamedTuple):
    """The columns and the rules of a table, as the database has them."""

    columns: dict[str, Column]
    rules: set[Rule]


def describe_tables(db: Connection) -> dict[str, Described]:
    """Return what an older program relies on, by table."""
    found = inspect(db)
    rules = _describe_rules(found)
    # Of all tables at once: to ask for each would be hundreds of questions.
    return {
        key[1]: Described({column["name"]: dict(column) for column in columns}, rules[key])
        for key, columns in found.get_multi_columns().items()
    }


def _describe_rules(found: Inspector) -> dict[Any, set[Rule]]:
    rules = defaultdict[Any, set[Rule]](set)
    for table, checks in found.get_multi_check_constraints().items():
        for check in checks:
            words = frozenset(re.findall(r"\w+", check["sqltext"]))
            rules[table].add((f"check {check['sqltext']}", words))
    unique: list[tuple[Any, Sequence[str | None]]] = [
        (table, one["column_names"])
        for table, constraints in found.get_multi_unique_constraints().items()
        for one in constraints
    ]
    unique += [
        (table, one["column_names"])
        for table, indexes in found.get_multi_indexes().items()
        for one in indexes
        if one["unique"]
    ]
    for table, names in unique:
        rules[table].add((f"unique {', '.join(map(str, names))}", frozenset(map(str, names))))
    for table, links in found.get_multi_foreign_keys().items():
        for link in links:
            columns = link["constrained_columns"]
            rules[table].add((f"link {', '.join(columns)}", frozenset(columns)))
    return rules


def list_breaks(before: dict[str, Described], after: dict[str, Described]) -> Iterator[str]:
    """Say what a program that knows only the tables before could not live with."""
    for name, table in before.items():
        if name not in after:
            yield f"{name} is gone"
            continue
        yield from _list_column_breaks(name, table.columns, after[name].columns)
        for rule, words in sorted(after[name].rules - table.rules, key=str):
            # Those for new columns alone do not concern who leaves them empty.
            if words & table.columns.keys():
                yield f"{name} has a new rule: {rule}"


def _list_column_breaks(
    table: str, before: dict[str, Column], after: dict[str, Column]
) -> Iterator[str]:
    for name, column in before.items():
        if name not in after:
            yield f"{table}.{name} is gone"
        elif str(after[name]["type"]) != str(column["type"]):
            yield f"{table}.{name} has another type"
        elif column["nullable"] and not after[name]["nullable"]:
            yield f"{table}.{name} may no longer be empty"
    for name in after.keys() - before.keys():
        if not after[name]["nullable"] and after[name]["default"] is None:
            yield f"{table}.{name} is new, required and without a default"


class _Undone(Exception):
    """Ends a transaction without a trace."""


def list_unsafe_steps(database: Database, migrations: Path) -> list[str]:
    """Try every migration after the first; say which breaks the program before it unmarked."""
    config = Config()
    config.set_main_option("script_location", str(migrations))
    first, *later = reversed(list(ScriptDirectory.from_config(config).walk_revisions()))
    problems = []
    with suppress(_Undone), database.writing() as db:
        config.attributes["connection"] = db
        command.upgrade(config, first.revision)
        before, served = describe_tables(db), first.revision
        for script in later:
            command.upgrade(config, script.revision)
            after = describe_tables(db)
            found = (*_judge(script.module, served), *_list_unmarked(script, before, after))
            problems += [f"{script.revision}: {problem}" for problem in found]
            before, served = after, script.module.serves_from
        raise _Undone
    return problems


def _list_unmarked(script: Any, before: Any, after: Any) -> list[str]:
    return [] if script.module.step == "contract" else list(list_breaks(before, after))


def _judge(module: Any, served: str) -> Iterator[str]:
    """Check what a migration says about itself."""
    if module.step not in {"expand", "contract"}:
        yield "`step` is `expand` or `contract`"
    if not module.serves_from < module.revision:
        yield "`serves_from` must be an earlier revision, so that one can roll back to it"
    if module.serves_from < served:
        yield "`serves_from` promises what an earlier migration has ended"
    if module.step == "expand" and module.serves_from != served:
        yield "a step that only adds serves whoever was served before"


@pytest.fixture
def blank(blank_database_url: str) -> Iterator[Database]:
    database = Database(blank_database_url)
    yield database
    database.close()


def test_no_migration_takes_away_what_the_release_before_it_uses(blank: Database) -> None:
    assert list_unsafe_steps(blank, schema.MIGRATIONS) == []


@pytest.mark.slow
def test_a_migration_that_only_adds_is_safe(blank: Database, tmp_path: Path) -> None:
    migrations = write_next_release(tmp_path, ADDS, serves_from=schema.LATEST, step="expand")

    assert list_unsafe_steps(blank, migrations) == []


@pytest.mark.parametrize(
    ("upgrade", "problem"),
    [
        ('op.drop_table("simulated_charges")', "simulated_charges is gone"),
        ('op.rename_table("simulated_charges", "charges")', "simulated_charges is gone"),
        ('op.drop_column("orders", "packing_slip_url")', "orders.packing_slip_url is gone"),
        (
            'op.add_column("orders", sa.Column("gift", sa.Text(), nullable=False))',
            "orders.gift is new, required and without a default",
        ),
        (
            'op.create_index("one", "orders", ["merchant_id", "created_at"], unique=True)',
            "orders has a new rule: unique merchant_id, created_at",
        ),
        (
            'op.alter_column("orders", "email", nullable=False)',
            "orders.email may no longer be empty",
        ),
        (
            'op.alter_column("orders", "email", type_=sa.String(9))',
            "orders.email has another type",
        ),
        (
            'op.create_check_constraint("ck", "orders", "email <> town_or_city")',
            "orders has a new rule: check email <> town_or_city",
        ),
    ],
)
def test_a_migration_that_takes_something_away_is_found(
    postgresql_database: Database, upgrade: str, problem: str, tmp_path: Path
) -> None:
    migrations = write_next_release(tmp_path, upgrade, serves_from=schema.LATEST, step="expand")

    assert list_unsafe_steps(postgresql_database, migrations) == [f"{NEXT}: {problem}"]


@pytest.mark.slow
def test_it_may_be_taken_away_by_a_step_that_says_so(blank: Database, tmp_path: Path) -> None:
    migrations = write_next_release(
        tmp_path,
        'op.drop_column("orders", "packing_slip_url")',
        serves_from=schema.LATEST,
        step="contract",
    )

    assert list_unsafe_steps(blank, migrations) == []


@pytest.mark.parametrize(
    ("serves_from", "step", "problem"),
    [
        (schema.LATEST, "tidy", "`step` is `expand` or `contract`"),
        (NEXT, "contract", "`serves_from` must be an earlier revision"),
        ("0000", "contract", "`serves_from` promises what an earlier migration has ended"),
        ("0000", "expand", "a step that only adds serves whoever was served before"),
    ],
)
def test_a_migration_promises_what_it_can_hold(serves_from: str, step: str, problem: str) -> None:
    module = SimpleNamespace(revision=NEXT, serves_from=serves_from, step=step)

    assert any(said.startswith(problem) for said in _judge(module, schema.LATEST))
