"""`printworks secrets`: the keys that encrypt the secrets in the database."""

from typing import Annotated, Any

import typer

from printworks.actions.accounts.secrets import (
    SecretsReport,
    choose_sealing_key,
    examine_secrets,
    reseal_page,
)
from printworks.cli.output import Columns
from printworks.cli.session import CommandSession, command
from printworks.errors import WrongState
from printworks.store.accounts.secrets import KINDS
from printworks.vault import add_key, remove_keys

app = typer.Typer(no_args_is_help=True)


@command(app, "list")
def list_keys(session: CommandSession) -> None:
    """List the keys of the file, and how many secrets each has encrypted."""
    report = _examine(session)
    found = [
        {
            "key": key_id,
            "secrets": report.by_key.get(key_id, 0),
            "isInUse": key_id == report.sealing_key,
        }
        for key_id in session.services.vault.key_ids
    ]
    columns: Columns = {
        "key": "key",
        "secrets": "secrets",
        "": lambda key: "in use" if key["isInUse"] else "",
    }
    session.show_list(found, columns, "There is no key yet.")


@command(app, "prepare")
def prepare(session: CommandSession) -> None:
    """Add a key to the file, for the next rotation; copy the file to every machine then."""
    vault, report = session.services.vault, _examine(session)
    key_id = _find_next(vault.key_ids, report) or add_key(vault.file)
    session.done(
        f"{vault.file} has the key {key_id} now, which is not used yet. Copy the file to every "
        "machine, then run `printworks secrets rotate`.",
        key=key_id,
        file=str(vault.file),
    )


@command(app, "rotate")
def rotate(
    session: CommandSession,
    *,
    forget_old: Annotated[
        bool,
        typer.Option(
            "--forget-old",
            help="Remove the older keys from the file; backups made before cannot be read then.",
        ),
    ] = False,
) -> None:
    """Encrypt every secret with a new key, while the service runs.

    If it is stopped, run it again: it continues. On PostgreSQL, `prepare` comes first.
    """
    vault, report = session.services.vault, _examine(session)
    if report.is_rotating:
        key_id = report.sealing_key
    else:
        key_id = _choose_next(session, report)
        with session.system_work() as work:
            choose_sealing_key(work, key_id)
    resealed = _reseal_all(session)
    forgotten = remove_keys(vault.file, except_for=frozenset({key_id})) if forget_old else []
    kept = "" if forgotten else " The older ones stay in the file, for backups."
    session.done(
        f"All secrets have the key {key_id} now ({resealed} were encrypted again).{kept}",
        key=key_id,
        resealed=resealed,
        forgotten=forgotten,
    )


def _choose_next(session: CommandSession, report: SecretsReport) -> str:
    vault = session.services.vault
    prepared = _find_next(vault.key_ids, report)
    if prepared is not None:
        return prepared
    if not session.services.database.is_sqlite:
        raise WrongState(
            "Other machines may use this database: run `printworks secrets prepare`, copy "
            f"{vault.file} to each of them, then rotate."
        )
    return add_key(vault.file)


def _find_next(key_ids: list[str], report: SecretsReport) -> str | None:
    """Return the newest key, if it was added after the one in use."""
    return key_ids[-1] if key_ids[-1] != report.sealing_key else None


def _reseal_all(session: CommandSession) -> int:
    resealed = 0
    for kind in KINDS:
        after: Any = None
        is_more = True
        while is_more:
            with session.system_work() as work:
                count, after = reseal_page(work, kind, after)
            resealed += count
            is_more = after is not None
    return resealed


def _examine(session: CommandSession) -> SecretsReport:
    with session.reading() as db:
        return examine_secrets(db, session.services.vault)
