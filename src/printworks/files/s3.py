"""Stores files in a bucket of S3, or of a compatible server."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from obstore.exceptions import BaseError
from obstore.store import S3Store

from printworks.files.drafts import Drafts
from printworks.files.errors import FileMissing, FilesError, FilesUnavailable, explain
from printworks.files.store import FileFacts, check_key, check_prefix
from printworks.settings import Settings

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, RetryConfig, S3Config, S3Credential

# The smallest part of an upload that S3 allows. Two at a time are in memory, and arrive within
# `read_timeout` even at 4 Mbit/s.
_PART: Final = 5 * 1024 * 1024
_PARTS_AT_ONCE: Final = 2
_CHUNK: Final = 1024 * 1024
_PAGE: Final = 500

# No retry starts after ten seconds: a server that cannot be reached costs about 10 s, one that
# does not answer 25 s, and twice that during a multipart upload, which is then cancelled.
_RETRIES: Final["RetryConfig"] = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=10),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 2,
    },
}

# By a mark in the error text of obstore: the explanation for the operator.
_PROBLEMS: Final = {
    "NoSuchBucket": "the bucket does not exist",
    "InvalidAccessKeyId": "it does not know the access key",
    "SignatureDoesNotMatch": "the secret access key is wrong",
    "AccessDenied": "the access key may not do this",
    "latest/api/token": "there are no credentials; set `s3_access_key_id`",
    "kind: Connect": "it cannot be reached",
    "kind: Timeout": "it takes too long to answer",
}


class S3Files:
    """Stores each file as an object named by its key, below the folder of `settings.files`.

    Open one per process, after any fork: the client has threads.
    """

    def __init__(self, settings: Settings) -> None:
        self._place = f"{settings.files} at {settings.s3_endpoint or 'AWS'}"
        self._folder = settings.data / "tmp" / "files"
        with self._explaining(""):
            self._drafts = Drafts(self._folder)
            self._store = _connect(settings)

    def put(self, key: str, source: Path) -> None:
        """Store a copy of a local file, in parts if it is large."""
        check_key(key)
        with self._explaining(key):
            # The error of obstore would not name the file that cannot be read.
            source.open("rb").close()
            self._store.put(key, source, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)

    def read(self, key: str) -> bytes:
        check_key(key)
        with self._explaining(key):
            return bytes(self._store.get(key).bytes())

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Yield the path of a copy that is removed when the block ends; raise `FileMissing`."""
        check_key(key)
        with ExitStack() as held:
            # The block is outside, so that errors of the caller are not taken for the store's.
            with self._explaining(key):
                path = held.enter_context(self._drafts.new())
                with path.open("wb") as copy:
                    for chunk in self._store.get(key).stream(_CHUNK):
                        copy.write(chunk)
            yield path

    def look(self, key: str) -> FileFacts:
        check_key(key)
        with self._explaining(key):
            found = self._find_facts(key)
        return FileFacts(found["size"], f"{found['e_tag']} {found['last_modified']:%Y%m%d%H%M%S}")

    def delete(self, key: str) -> None:
        check_key(key)
        try:
            with self._explaining(key):
                self._store.delete(key)
        except FileMissing:
            return

    def keys(self, prefix: str = "") -> Iterator[str]:
        """List the keys below a prefix of whole segments."""
        check_prefix(prefix)
        with self._explaining(""):
            for page in self._store.list(prefix or None, chunk_size=_PAGE):
                yield from (each["path"] for each in page)

    def _find_facts(self, key: str) -> "ObjectMeta":
        try:
            return self._store.head(key)
        except FileNotFoundError:
            # The answer to HEAD has no body, so it does not say what is missing: this one does.
            return self._store.get(key).meta

    @contextmanager
    def _explaining(self, key: str) -> Iterator[None]:
        try:
            yield
        except BaseError as error:
            raise self._translate(error, key) from error
        except OSError as error:
            # Errors of the operating system have a number, those of obstore have not.
            is_local = error.errno is not None
            place = str(error.filename or self._folder)
            raise explain(error, place) if is_local else self._translate(error, key) from error

    def _translate(self, error: Exception, key: str) -> FilesError:
        said = str(error)
        # Any other 404 may come from a proxy or a wrong address and says nothing about the file.
        if "<Code>NoSuchKey</Code>" in said:
            return FileMissing(key)
        for mark, problem in _PROBLEMS.items():
            if mark in said:
                return FilesUnavailable(f"{self._place} cannot be used: {problem}.")
        return FilesUnavailable(f"{self._place} cannot be used: {said.splitlines()[0][:300]}")


def _connect(settings: Settings) -> S3Store:
    bucket, _, folder = settings.files.removeprefix("s3://").partition("/")
    # Set explicitly, so that no `AWS_` variable changes it.
    config: S3Config = {
        "virtual_hosted_style_request": False,
        "skip_signature": False,
        # Not every compatible server supports bulk deletion.
        "disable_bulk_delete": True,
    }
    if settings.s3_endpoint:
        # An `AWS_ENDPOINT_URL_S3` would win over the plain `endpoint`.
        config["aws_endpoint_url_s3"] = settings.s3_endpoint
    if settings.s3_region:
        config["region"] = settings.s3_region
    client: ClientConfig = {
        "allow_http": settings.s3_endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=5),
        # Between two chunks of a response; of an upload, from its start to the response.
        "read_timeout": timedelta(seconds=25),
        "timeout": timedelta(minutes=5),
    }
    has_key = bool(settings.s3_access_key_id)

    def get_credentials() -> "S3Credential":
        return {
            "access_key_id": settings.s3_access_key_id,
            "secret_access_key": settings.s3_secret_access_key,
            "token": None,
            "expires_at": None,
        }

    return S3Store(
        bucket,
        prefix=folder or None,
        config=config,
        client_options=client,
        retry_config=_RETRIES,
        # Not in `config`: there an `AWS_SESSION_TOKEN` would be mixed with our own key.
        credential_provider=get_credentials if has_key else None,
    )
