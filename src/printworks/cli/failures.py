"""What the operator reads when a command fails for a known reason."""


def explain(error: Exception) -> str | None:
    """Return one sentence for an expected failure, or None for a fault of the program."""
    # Imported here: a command that succeeds needs none of them.
    from sqlalchemy import exc

    from printworks.backup.manifest import BackupDamaged, BackupUnusable
    from printworks.catalogue.problems import BadCatalogue
    from printworks.errors import ServiceError
    from printworks.files.errors import FilesError
    from printworks.labs.connector import LabUnavailable
    from printworks.mail.transport import MailRefused, MailUnavailable
    from printworks.settings import BadSetting
    from printworks.store.engine.database import DatabaseUnusable, find_outages
    from printworks.vault import SecretKeyUnusable, SecretUnreadable
    from printworks.web.server import AddressUnusable
    from printworks.web.tls import TlsUnusable

    match error:
        case (
            BadSetting()
            | DatabaseUnusable()
            | TlsUnusable()
            | AddressUnusable()
            | BadCatalogue()
            | FilesError()
            | SecretKeyUnusable()
            | BackupDamaged()
            | BackupUnusable()
            | LabUnavailable()
            | MailRefused()
            | MailUnavailable()
        ):
            return str(error)
        case ServiceError():
            return error.detail if isinstance(error, SecretUnreadable) else error.message
        # Those of the drivers, too: not every statement goes through SQLAlchemy.
        case _ if isinstance(error, (exc.DatabaseError, *find_outages())):
            return f"The database cannot be used: {_first_line(error)}"
        case OSError() if error.filename is not None:
            return f"{error.filename}: {error.strerror}."
        case _:
            return None


def _first_line(error: Exception) -> str:
    # Without the statement and its values, which follow on the next lines.
    lines = str(getattr(error, "orig", error)).strip().splitlines()
    return lines[0] if lines else f"{type(error).__name__}."
