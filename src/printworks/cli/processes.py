"""`printworks serve`, `web`, `work` and `migrate`: what runs."""

import sys

import typer

from printworks.cli.opening import find_usable_schema, make_data_folder, open_services
from printworks.cli.options import Host, Port
from printworks.cli.session import CommandSession, command
from printworks.settings import Settings
from printworks.starting import keep_for_good, without_collecting
from printworks.store.engine.database import Database
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaFit

app = typer.Typer()


@command(app, "serve", has_json=False)
def serve(session: CommandSession, host: Host = None, port: Port = None) -> None:
    """Run everything: HTTPS API, dashboard and worker. Ctrl-C stops it cleanly."""
    # Imported here, and below: each command needs another large part of the program.
    from printworks import log
    from printworks.catalogue.opening import open_catalogue
    from printworks.cli.demo import get_demo_credentials, make_first_invitation
    from printworks.cli.supervisor import WEB, Supervisor, lock_data_folder
    from printworks.clock import system_clock
    from printworks.web.server import check_address, serve_web
    from printworks.web.tls import prepare_tls

    settings = _listen_on(session, host, port)
    make_data_folder(settings)
    log.configure(settings)
    with lock_data_folder(settings.data):
        check_address(settings)
        prepare_tls(settings, now=system_clock())
        # Before the fork, so that web and worker share it.
        with without_collecting():
            open_catalogue(settings.catalogue)
        # Nor do they search it: that would copy it.
        keep_for_good()
        # Closed before the fork: processes must not share connections.
        with open_services(settings) as services:
            demo = invitation = None
            if services.is_sandbox:
                demo = get_demo_credentials(services)
                invitation = make_first_invitation(services)

        def show_welcome() -> None:
            from printworks.cli.screen import welcome

            welcome(settings, demo, invitation)

        # The web process comes first: somebody waits for it.
        processes = {WEB: serve_web, "worker": _run_worker}
        sys.exit(Supervisor(settings, processes, when_ready=show_welcome).run())


def _run_worker(settings: Settings) -> None:
    # Imported in the process that needs it, while the web process starts.
    from printworks.worker.main import run_worker

    run_worker(settings)


@command(app, "web", has_json=False)
def web(session: CommandSession, host: Host = None, port: Port = None) -> None:
    """Run the HTTPS API and the dashboard alone."""
    from printworks.web.server import check_address, serve_web

    settings = _listen_on(session, host, port)
    check_address(settings)
    with open_services(settings):
        pass  # the database is up to date now, or this would have failed
    serve_web(settings)


def _listen_on(session: CommandSession, host: str | None, port: int | None) -> Settings:
    """Return the settings, with the address that was given to the command."""
    session.prefer("host", host)
    session.prefer("port", port)
    proxied = session.settings.behind_proxy
    if proxied and (host is not None or port is not None):
        message = (
            f"`behind_proxy` is set, so only {proxied} is listened on; leave --host and --port out."
        )
        raise typer.BadParameter(message)
    return session.settings


@command(app, "work", has_json=False)
def work(session: CommandSession) -> None:
    """Run a worker alone: everything that happens after a request."""
    with open_services(session.settings):
        pass  # the database is up to date now, or this would have failed
    _run_worker(session.settings)


@command(app, "migrate")
def migrate(session: CommandSession) -> None:
    """Bring the database to the version that this program needs."""
    make_data_folder(session.settings)
    database = Database(session.settings.database_url, connections=2)
    try:
        before = find_usable_schema(database)
        if before.fit is SchemaFit.TOO_OLD:
            schema.migrate(database)
        now = schema.find_schema(database)
    finally:
        database.close()
    state = {
        SchemaFit.TOO_OLD: f"is now at revision {now.revision}",
        SchemaFit.CURRENT: f"was up to date (revision {now.revision})",
        SchemaFit.AHEAD: f"is ahead of this program and serves it ({now.describe()})",
    }[before.fit]
    session.done(f"The database {state}.", revision=now.revision, before=before.revision)
