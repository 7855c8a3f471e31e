"""File storage: a folder or an S3 bucket, chosen by the settings."""

from pathlib import Path

from printworks.files.store import Files
from printworks.settings import Settings


def open_files(settings: Settings) -> Files:
    """Open the store that the settings name; raise `FilesUnavailable`.

    Open one per process, after any fork. It need not be closed.
    """
    if settings.files.startswith("s3://"):
        # Imported only when needed: the client takes long to load.
        from printworks.files.s3 import S3Files

        return S3Files(settings)
    from printworks.files.folder import FolderFiles

    return FolderFiles(Path(settings.files))
