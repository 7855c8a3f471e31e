"""`printworks serve`, `web`, `work` and `migrate`: what runs."""

import sys

import typer

from printworks.cli.options import (
    Data,
    find_usable_revision,
    load_settings,
    make_data_folder,
    open_database,
)


def serve(context: typer.Context, data: Data = None) -> None:
    """Run everything: HTTPS API, dashboard and worker. Ctrl-C stops it cleanly."""
    from printworks import log
    from printworks.catalogue.opening import open_catalogue
    from printworks.cli.demo import get_demo_credentials, invite_somebody
    from printworks.cli.screen import welcome
    from printworks.cli.supervisor import WEB, Supervisor, lock_data_folder
    from printworks.clock import system_clock
    from printworks.web.server import check_address, serve_web
    from printworks.web.tls import prepare_tls
    from printworks.worker.main import run_worker

    settings = load_settings(context, data)
    make_data_folder(settings)
    log.configure(settings)
    with lock_data_folder(settings.data):
        check_address(settings)
        prepare_tls(settings, now=system_clock())
        # Before the fork, so that web and worker share it.
        open_catalogue(settings.catalogue)
        with open_database(settings) as database:
            demo = invitation = None
            if settings.environment == "sandbox":
                demo = get_demo_credentials(database, settings)
                invitation = invite_somebody(database)
        processes = {WEB: serve_web, "worker": run_worker}
        supervisor = Supervisor(
            settings, processes, when_ready=lambda: welcome(settings, demo, invitation)
        )
        sys.exit(supervisor.run())


def web(context: typer.Context, data: Data = None) -> None:
    """Run the HTTPS API and the dashboard alone."""
    from printworks.web.server import check_address, serve_web

    settings = load_settings(context, data)
    check_address(settings)
    with open_database(settings):
        pass  # it is up to date now, or we would not be here
    serve_web(settings)


def work(context: typer.Context, data: Data = None) -> None:
    """Run a worker alone: whatever happens after a request."""
    from printworks.worker.main import run_worker

    settings = load_settings(context, data)
    with open_database(settings):
        pass  # it is up to date now, or we would not be here
    run_worker(settings)


def migrate(context: typer.Context, data: Data = None) -> None:
    """Bring the database to the version that this program needs."""
    from printworks.store.engine.database import Database
    from printworks.store.tables import schema

    settings = load_settings(context, data)
    make_data_folder(settings)
    database = Database(settings.database_url, connections=2)
    try:
        before = find_usable_revision(database)
        if before != schema.LATEST:
            schema.migrate(database)
    finally:
        database.close()
    typer.echo(
        f"The database was up to date (revision {schema.LATEST})."
        if before == schema.LATEST
        else f"The database is now at revision {schema.LATEST}."
    )
