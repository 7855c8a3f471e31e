"""Fetching: a file comes whole or not at all, and a bad server costs no more than its limits."""

import asyncio
import gzip
import hashlib
import time
import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from printworks import __version__
from printworks.net.client import Fetched, FetchLimits, Outbound
from printworks.net.errors import (
    BadAddress,
    BadAnswer,
    NotThere,
    OutboundError,
    TimedOut,
    TooLarge,
    Unreachable,
)
from printworks.net.guard import Guard
from tests.net.running import Script, Step, a_server, answer, nothing, redirect, run

PICTURE: Final = bytes(range(256)) * 1000
HEAD: Final = b"HTTP/1.1 200 OK\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PATIENT: Final = FetchLimits(size=1_000_000)
SHORT: Final = FetchLimits(
    size=1_000_000,
    total=timedelta(seconds=0.4),
    stall=timedelta(seconds=0.15),
    connect=timedelta(seconds=0.3),
)


def fetch(
    script: Script | Sequence[Step],
    *,
    limits: FetchLimits = PATIENT,
    headers: dict[str, str] | None = None,
    into: Callable[[bytes], object] = len,
) -> Fetched:
    """Fetch from a server with this script, on a machine where loopback is allowed."""
    got: list[Fetched] = []

    async def story() -> None:
        async with Outbound(Guard(allow_loopback=True)) as outbound, a_server(script) as port:
            url = f"http://127.0.0.1:{port}/a.jpg"
            got.append(await outbound.fetch(url, into=into, limits=limits, headers=headers))

    run(story)
    return got[0]


def gzipped(body: bytes) -> bytes:
    """Answer with a compressed body."""
    return answer(gzip.compress(body), content_encoding="gzip")


def hop(head: bytes) -> int:
    """Read which redirect this is from a request for `/1`, `/2` and so on."""
    path = head.split()[1].decode()
    return int(path.strip("/")) if path.strip("/").isdigit() else 0


def test_a_file_comes_with_its_hashes() -> None:
    pieces: list[bytes] = []

    fetched = fetch(
        [answer(PICTURE, content_type="image/jpeg", etag='"1"', last_modified="yesterday")],
        into=pieces.append,
    )

    assert b"".join(pieces) == PICTURE
    assert fetched.status == 200
    assert fetched.size == len(PICTURE)
    assert fetched.md5 == hashlib.md5(PICTURE).hexdigest()
    assert fetched.sha256 == hashlib.sha256(PICTURE).hexdigest()
    assert fetched.url.endswith("/a.jpg")
    assert fetched.content_type == "image/jpeg"
    assert (fetched.etag, fetched.last_modified) == ('"1"', "yesterday")


@pytest.mark.parametrize("bad", [b'"caf\xe9"', '"café"'.encode(), b'"tab\there"'])
def test_a_tag_or_a_date_that_cannot_be_sent_back_is_ignored(bad: bytes) -> None:
    whole = answer(PICTURE, etag="bad", last_modified="bad").replace(b"bad", bad)

    fetched = fetch([whole])

    assert (fetched.etag, fetched.last_modified) == ("", "")
    assert fetched.sha256 == hashlib.sha256(PICTURE).hexdigest()


@pytest.mark.parametrize(
    "steps",
    [
        [HEAD + b"Connection: close\r\n\r\n", PICTURE],
        [CHUNKED, b"%x\r\n" % len(PICTURE), PICTURE, b"\r\n0\r\n\r\n"],
        [gzipped(PICTURE)],
        [answer(zlib.compress(PICTURE), content_encoding="deflate")],
        [answer(PICTURE, content_encoding="identity")],
        [answer(PICTURE)[:90], 0.05, answer(PICTURE)[90:]],
    ],
)
def test_a_file_is_the_same_however_it_is_sent(steps: list[Step]) -> None:
    assert fetch(steps).sha256 == hashlib.sha256(PICTURE).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 131072, 999_999, 1_000_000])
def test_a_file_that_unpacks_to_many_pieces_is_whole(size: int) -> None:
    assert fetch([gzipped(bytes(size))]).size == size


def test_a_request_says_who_asks_and_nothing_more() -> None:
    heads: list[bytes] = []

    def note(head: bytes) -> list[bytes]:
        heads.append(head)
        return [answer(b"x")]

    fetch(note, headers={"If-None-Match": '"1"'})

    lines = sorted(line.split(b": ") for line in heads[0].split(b"\r\n")[1:] if line)
    assert lines == [
        [b"Accept", b"*/*"],
        [b"Accept-Encoding", b"identity"],
        [b"Host", lines[2][1]],
        [b"If-None-Match", b'"1"'],
        [b"User-Agent", f"Printworks/{__version__}".encode()],
    ]


def test_the_environment_of_the_process_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heads: list[bytes] = []
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password hush\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")

    def note(head: bytes) -> list[bytes]:
        heads.append(head)
        return [answer(b"x", set_cookie="a=b")]

    async def story() -> None:
        async with Outbound(Guard(allow_loopback=True)) as outbound, a_server(note) as port:
            for _ in range(2):
                await outbound.fetch(f"http://127.0.0.1:{port}/", into=len)

    run(story)

    assert len(heads) == 2
    assert not any(b"Cookie" in head or b"Authorization" in head for head in heads)


def test_not_modified_is_a_result_for_those_who_asked() -> None:
    fetched = fetch(
        [answer(status="304 Not Modified", etag='"1"')], headers={"If-None-Match": '"1"'}
    )

    assert (fetched.status, fetched.size, fetched.etag) == (304, 0, '"1"')


@pytest.mark.parametrize(
    ("status", "error", "is_permanent"),
    [
        ("204 No Content", BadAnswer, True),
        ("206 Partial Content", BadAnswer, True),
        ("300 Multiple Choices", BadAnswer, True),
        ("304 Not Modified", BadAnswer, True),
        ("400 Bad Request", BadAnswer, True),
        ("403 Forbidden", BadAnswer, True),
        ("404 Not Found", NotThere, True),
        ("410 Gone", NotThere, True),
        ("429 Too Many Requests", BadAnswer, False),
        ("500 Internal Server Error", BadAnswer, False),
        ("503 Service Unavailable", BadAnswer, False),
        ("302 Found", BadAnswer, True),
    ],
)
def test_another_status_is_an_error(
    status: str, error: type[OutboundError], is_permanent: bool
) -> None:
    with pytest.raises(error) as failed:
        fetch([answer(b"", status=status)], into=nothing)

    assert type(failed.value) is error
    assert failed.value.is_permanent == is_permanent
    assert failed.value.message.endswith(".")


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        pytest.param([b"HTTP/1.1 200 OK\r\n", 5.0], TimedOut, id="stalls in the head"),
        pytest.param([5.0], TimedOut, id="says nothing"),
        pytest.param([answer(PICTURE)[:-1], 5.0], TimedOut, id="stalls before the last byte"),
        pytest.param([CHUNKED, *[b"1\r\nx\r\n", 0.05] * 100], TimedOut, id="drips"),
        pytest.param([*[b"HTTP/1.1 103 Early\r\n\r\n", 0.02] * 100], TimedOut, id="hints for ever"),
        pytest.param([answer(PICTURE)[:-1]], BadAnswer, id="announces too much"),
        pytest.param([answer(PICTURE, content_length="9")], BadAnswer, id="announces too little"),
        pytest.param(
            [HEAD + b"Content-Length: 9\r\n\r\n", 0.05, PICTURE],
            BadAnswer,
            id="announces too little, later",
        ),
        pytest.param([answer(b"abc", content_length="-1")], BadAnswer, id="announces nonsense"),
        pytest.param(
            [answer(b"abc", transfer_encoding="chunked")], BadAnswer, id="announces two ways"
        ),
        pytest.param([CHUNKED, b"5\r\nab"], BadAnswer, id="ends in a chunk"),
        pytest.param([CHUNKED, b"zz\r\nab\r\n"], BadAnswer, id="sends a broken chunk"),
        pytest.param([answer(PICTURE)[:999], 0.02, None], BadAnswer, id="resets in the body"),
        pytest.param([None], Unreachable, id="resets at once"),
        pytest.param([], Unreachable, id="closes at once"),
        pytest.param([b"SSH-2.0-server\r\n"], BadAnswer, id="speaks another protocol"),
        pytest.param([HEAD + b"x: y\r\n" * 1000 + b"\r\n"], BadAnswer, id="sends many headers"),
        pytest.param([HEAD + b"x: " + b"y" * 70000], BadAnswer, id="sends a long header"),
        pytest.param([answer(b"", content_length="1000001")], TooLarge, id="announces a giant"),
        pytest.param(
            [HEAD + b"Connection: close\r\n\r\n", *[b"x" * 60_000] * 100], TooLarge, id="never ends"
        ),
        pytest.param(
            [CHUNKED, *[b"ffff\r\n" + b"x" * 65535 + b"\r\n"] * 50], TooLarge, id="chunks"
        ),
        pytest.param([gzipped(bytes(50_000_000))], TooLarge, id="a gzip bomb"),
        pytest.param(
            [answer(zlib.compress(bytes(1_000_001)), content_encoding="deflate")],
            TooLarge,
            id="a deflate bomb, by one byte",
        ),
        pytest.param(
            [answer(gzip.compress(PICTURE)[:-9], content_encoding="gzip")], BadAnswer, id="cut gzip"
        ),
        pytest.param([answer(PICTURE, content_encoding="gzip")], BadAnswer, id="not gzip"),
        pytest.param(
            [answer(gzip.compress(b"a") + b"b", content_encoding="gzip")], BadAnswer, id="gzip+"
        ),
        pytest.param([answer(b"x", content_encoding="br")], BadAnswer, id="brotli"),
        pytest.param([answer(b"x", content_encoding="gzip, gzip")], BadAnswer, id="twice"),
    ],
)
def test_a_bad_server_costs_no_more_than_its_limits(
    steps: list[Step], error: type[OutboundError]
) -> None:
    written: list[int] = []
    began = time.monotonic()

    with pytest.raises(error) as failed:
        fetch(
            steps,
            into=lambda piece: written.append(len(piece)),
            limits=SHORT if error is TimedOut else PATIENT,
        )

    assert type(failed.value) is error
    assert sum(written) <= PATIENT.size
    assert time.monotonic() - began < 4


class TestRedirects:
    def test_are_followed_three_times(self) -> None:
        fetched = fetch(
            lambda head: [redirect(f"/{hop(head) + 1}")] if hop(head) < 3 else [answer(b"here")]
        )

        assert fetched.size == 4
        assert fetched.url.endswith("/3")

    @pytest.mark.parametrize("status", ["301 Moved", "303 Other", "307 Temporary", "308 Permanent"])
    def test_have_many_numbers(self, status: str) -> None:
        fetched = fetch(lambda head: [answer(b"x") if hop(head) else redirect("/1", status)])

        assert fetched.size == 1

    def test_are_not_followed_a_fourth_time(self) -> None:
        asked: list[int] = []

        def lead_on(head: bytes) -> list[bytes]:
            asked.append(hop(head))
            return [redirect(f"/{hop(head) + 1}")]

        with pytest.raises(BadAnswer, match="redirects more than 3 times"):
            fetch(lead_on, into=nothing)
        assert asked == [0, 1, 2, 3]

    def test_in_a_circle_end(self) -> None:
        with pytest.raises(BadAnswer, match="redirects more than 3 times") as failed:
            fetch([redirect("/a.jpg")], into=nothing)

        assert failed.value.is_permanent

    @pytest.mark.parametrize(
        "location", ["ftp://public.example/", "http://a:b@public.example/", "http://[::1", "/ x"]
    )
    def test_to_what_is_no_address_are_not_followed(self, location: str) -> None:
        with pytest.raises(BadAnswer, match="redirects to one that cannot be used"):
            fetch([redirect(location)], into=nothing)

    def test_together_have_the_time_of_one(self) -> None:
        # Unreachable if the time is over just when the next connection is being made.
        with pytest.raises((TimedOut, Unreachable)):
            fetch(lambda head: [0.13, redirect(f"/{hop(head) + 1}")], into=nothing, limits=SHORT)


def test_trouble_of_our_own_is_not_blamed_on_the_address() -> None:
    def full(_piece: bytes) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as failed:
        fetch([answer(PICTURE)], into=full)

    assert not isinstance(failed.value, OutboundError)


def test_a_bad_address_is_turned_down_before_anything_happens() -> None:
    async def story() -> None:
        async with Outbound(Guard()) as outbound:
            with pytest.raises(BadAddress):
                await outbound.fetch("ftp://public.example/", into=nothing)

    run(story)


def test_a_hundred_at_once_share_a_few_connections() -> None:
    open_now, most = 0, 0

    async def story() -> None:
        outbound = Outbound(Guard(allow_loopback=True), connections_per_host=4)

        def count(_head: bytes) -> list[Step]:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            asyncio.get_running_loop().call_later(0.004, leave)
            return [0.005, answer(b"x", connection="close")]

        def leave() -> None:
            nonlocal open_now
            open_now -= 1

        async with outbound, a_server(count) as port:
            url = f"http://127.0.0.1:{port}/"
            await asyncio.gather(*(outbound.fetch(url, into=len) for _ in range(100)))

    run(story)

    assert most <= 4
