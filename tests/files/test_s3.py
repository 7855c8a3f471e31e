"""What is peculiar to a store at the other end of a network."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest

from printworks.files import open_files
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.settings import Settings
from tests.files.samples import KEY, MEGABYTE, a_file, list_drafts
from tests.running import find_free_port


def open_at(endpoint: str, data: Path) -> Files:
    """Open a store at this address."""
    environ = {
        "PRINTWORKS_FILES": "s3://pictures",
        "PRINTWORKS_S3_ENDPOINT": endpoint,
        "PRINTWORKS_S3_ACCESS_KEY_ID": "somebody",
        "PRINTWORKS_S3_SECRET_ACCESS_KEY": "hush",
    }
    return open_files(Settings.load(data, environ))


def ask_everything(files: Files, source: Path) -> Iterator[FilesUnavailable]:
    """Return how each method fails."""
    for ask in (
        lambda: files.put(KEY, source),
        lambda: files.read(KEY),
        lambda: files.local(KEY).__enter__(),
        lambda: files.delete(KEY),
        lambda: list(files.keys()),
    ):
        with pytest.raises(FilesUnavailable) as refused:
            ask()
        yield refused.value


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Give every request the same answer and end the connection; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if not connection.recv(65536):
                        return
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        port = listener.getsockname()[1]
        yield f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join()


def test_a_server_that_is_not_there_is_explained(data: Path, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{find_free_port()}"
    files = open_at(endpoint, data)

    for refusal in ask_everything(files, a_file(tmp_path, b"a picture")):
        sentence = f"s3://pictures at {endpoint} cannot be used: it cannot be reached."
        assert str(refusal) == sentence
    assert list_drafts(data) == []


@pytest.mark.slow
def test_a_server_that_never_answers_costs_less_than_half_a_minute(
    data: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        files = open_at(f"http://127.0.0.1:{silent.getsockname()[1]}", data)
        began_at = monotonic()

        with pytest.raises(FilesUnavailable, match="it takes too long to answer"):
            files.put(KEY, a_file(tmp_path, b"a picture"))

    assert monotonic() - began_at < 30


def test_a_bucket_that_does_not_exist_is_no_missing_file(
    s3_environ: Mapping[str, str], data: Path, tmp_path: Path
) -> None:
    environ = {**s3_environ, "PRINTWORKS_FILES": "s3://nobodys"}
    files = open_files(Settings.load(data, environ))

    for refusal in ask_everything(files, a_file(tmp_path, b"a picture")):
        assert str(refusal).endswith("cannot be used: the bucket does not exist.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nproxy", "404 Not Found"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\noops", "403 Forbidden"),
        (b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n", "incorrectly configured region"),
        (b"SSH-2.0-other\r\n", "error sending request"),
    ],
)
def test_an_answer_that_is_not_of_a_store_is_no_missing_file(
    data: Path, answer: bytes, said: str
) -> None:
    with answering(answer) as endpoint:
        files = open_at(endpoint, data)

        with pytest.raises(FilesUnavailable, match=said):
            files.read(KEY)


def test_half_a_file_is_no_file(data: Path) -> None:
    head = (
        b'HTTP/1.1 200 OK\r\nETag: "x"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n'
        b"Content-Length: 1000\r\n\r\n"
    )
    with answering(head + b"x" * 500) as endpoint:
        files = open_at(endpoint, data)

        with pytest.raises(FilesUnavailable):
            files.read(KEY)
        with pytest.raises(FilesUnavailable):
            files.local(KEY).__enter__()
    assert list_drafts(data) == []


def test_a_secret_is_never_part_of_a_sentence(data: Path, tmp_path: Path) -> None:
    refusals = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
    with answering(refusals) as endpoint:
        files = open_at(endpoint, data)

        said = [str(each) for each in ask_everything(files, a_file(tmp_path, b"a picture"))]

    assert not any("hush" in sentence or "\n" in sentence for sentence in said)


PUT_AND_READ = """
import os, resource, sys
from pathlib import Path
from printworks.files import open_files
from printworks.settings import Settings

files = open_files(Settings.load(Path(sys.argv[1]), os.environ))

def there_and_back(source):
    files.put("originals/42.jpg", source)
    with files.local("originals/42.jpg") as path:
        assert path.stat().st_size == source.stat().st_size
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before, after = map(there_and_back, map(Path, sys.argv[2:]))
print(after - before)
"""


@pytest.mark.slow
def test_a_large_file_does_not_pass_through_memory(
    s3_environ: Mapping[str, str], data: Path, tmp_path: Path
) -> None:
    small = a_file(tmp_path, b"x" * 6 * MEGABYTE, name="small")
    large = a_file(tmp_path, b"x" * 90 * MEGABYTE, name="large")

    ended = subprocess.run(
        [sys.executable, "-c", PUT_AND_READ, data, small, large],
        env={**os.environ, **s3_environ},
        stdout=subprocess.PIPE,
        check=True,
    )

    assert int(ended.stdout) < 30 * MEGABYTE


ASK_WITH_VARIABLES = """
import os, sys
from pathlib import Path
from printworks.files import open_files
from printworks.settings import Settings

files = open_files(Settings.load(Path(sys.argv[1]), os.environ))
files.put("originals/42.jpg", Path(sys.argv[2]))
print(*files.keys())
"""


@pytest.mark.parametrize(
    "variables",
    [
        {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
        {"AWS_SKIP_SIGNATURE": "true", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"},
        {"AWS_SESSION_TOKEN": "another's", "AWS_ACCESS_KEY_ID": "another"},
    ],
)
def test_what_is_set_wins_over_the_variables_of_aws(
    s3_environ: Mapping[str, str], data: Path, tmp_path: Path, variables: dict[str, str]
) -> None:
    source = a_file(tmp_path, b"a picture")

    ended = subprocess.run(
        [sys.executable, "-c", ASK_WITH_VARIABLES, data, source],
        env={**os.environ, **variables, **s3_environ},
        stdout=subprocess.PIPE,
        check=True,
    )

    assert ended.stdout == b"originals/42.jpg\n"


def test_without_a_key_the_variables_of_aws_are_used(
    s3_environ: Mapping[str, str], data: Path, tmp_path: Path
) -> None:
    environ = {name: value for name, value in s3_environ.items() if "KEY" not in name}
    variables = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "hush"}

    ended = subprocess.run(
        [sys.executable, "-c", ASK_WITH_VARIABLES, data, a_file(tmp_path, b"a picture")],
        env={**os.environ, **variables, **environ},
        stdout=subprocess.PIPE,
        check=True,
    )

    assert ended.stdout == b"originals/42.jpg\n"
