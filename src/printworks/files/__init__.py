"""File storage: a folder or an S3 bucket, chosen by the settings."""

from pathlib import Path

import msgspec

from printworks.files.store import Files
from printworks.settings import Settings, is_in_s3


def open_backups(place: str, settings: Settings) -> Files:
    """Open a folder or `s3://bucket/folder` for backups; raise `FilesUnavailable`.

    A bucket is reached with the `s3_` settings.
    """
    if is_in_s3(place):
        from printworks.files.s3 import S3Files

        return S3Files(msgspec.structs.replace(settings, files=place))
    from printworks.files.folder import PlainFolderFiles

    return PlainFolderFiles(Path(place).absolute())


def open_files(settings: Settings) -> Files:
    """Open the store that the settings name; raise `FilesUnavailable`.

    Open one per process, after any fork. It need not be closed.
    """
    if is_in_s3(settings.files):
        # Imported only when needed: the client takes long to load.
        from printworks.files.s3 import S3Files

        return S3Files(settings)
    from printworks.files.folder import FolderFiles

    return FolderFiles(Path(settings.files))
