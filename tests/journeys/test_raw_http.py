"""Whatever arrives on a connection is answered by us, with our headers, or not at all."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from tests.running import HOST, Service, running_behind_proxy
from tests.scale import scaled

# At once; the server has room for many more.
CONNECTIONS: Final = 48
SECONDS: Final = 30

PATHS: Final = (
    b"/v3.0/orders",
    b"/v2.6/Orders",
    b"/v2.5/orders/1",
    b"/v2.3/orders",
    b"/sign-in",
    b"/nowhere",
)
# The first two take files.
PATHS_OF_BODIES: Final = (b"/v3.0/images/check", b"/v2.6/Orders/1/Photos", *PATHS[:5:2])
METHODS: Final = (
    *(b"G(T", b"", b" ", b"GET\x00", b"G\xc3\x84T", b"GET:", b"[GET]", b"G" * 70_000),
    *(b"get", b"BREW", b"CONNECT", b"TRACE", b"PRI", b"OPTIONS"),
)
VERSIONS: Final = (
    *(b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/3", b"HTTP/11", b"HTTP/1.10", b"HTTP/-1.1"),
    *(b"http/1.1", b"HTTP 1.1", b"HTTP/1.1 ", b"HTTP/1,1", b"HTCPCP/1.0", b"", b"HTTP/1.\xb9"),
)
TARGETS: Final = (
    *(b"v3.0/orders", b"*", b"//", b"///v3.0//orders", b"http://", b"http://[::1/v3.0/orders"),
    *(b"http://u:p@h/v3.0/orders", b"ftp://h/", b"h:443", b"?a", b"#a", b"/v3.0/orders#a"),
    *(b"/\xff\xfe", b"/v3.0/orders/\x00", b"/v3.0/orders/\x7f", b"/a b", b"/a\tb", b"/" * 70_000),
    *(b"/%", b"/%zz", b"/%00", b"/%ff%fe", b"/v3.0/orders/%00", b"/v3.0/orders/%ff%2f..%2f"),
    *(b"/v3.0/orders?%", b"/v3.0/orders?limit=%ff", b"/v3.0/orders?limit=%00", b"/..", b"/%2e%2e"),
    *(b"/v2.6/orders/%F0%9F", b"/v3.0/orders?" + b"&" * 5000, b"/v3.0/orders?\xed\xa0\x80=1"),
)
HOSTS: Final = (
    *((), (b"Host: a", b"Host: b"), (b"Host: a", b"host: a"), (b"Host: a b",), (b"Host: a/b",)),
    *((b"Host: a@b",), (b"Host: a:b",), (b"Host: [::1",), (b"Host: a,b:",), (b"Host: \xff",)),
    *((b"Host : a",), (b" Host: a",), (b"Host\x00: a",), (b"Host: a\x00",), (b"Host: a\r\n b",)),
)
HEADERS: Final = (
    *(b"no colon", b": value", b"Two Words: 1", b"Space : 1", b" Fold: 1", b"X: 1\r\n fold"),
    *(b"X: 1\r\n\tfold", b"N\xc3\xa4me: 1", b"Na\x00me: 1", b"X: a\x00b", b"X: a\rb", b"X: a\nb"),
    *(b"X: \x01", b"X: \x7f", b"(X): 1", b"X/Y: 1", b"X@Y: 1", b"\xff: 1", b"X\r: 1", b"\r: 1"),
    *(b"X: " + b"a" * 70_000, b"a" * 70_000, b"\r\n".join([b"X: 1"] * 101)),
    *(
        b"\r\n".join(b"X-%d: 1" % n for n in range(3000)),
        b"X-Request-Id: \xff",
        b"Accept: \xff\xfe",
    ),
    *(b"Accept: " + b"a/b," * 3000, b"If-None-Match: \xff", b"Idempotency-Key: \xff"),
    *(b"Content-Encoding: gzip", b"Cookie: \xff=\xfe; =;;", b"Expect: tea", b"Upgrade: h2c"),
    *(
        b"Connection: \xff",
        b"Range: bytes=9-1",
        b"X-Forwarded-For: \xff, ,",
        b"Forwarded: for=_\xff",
    ),
)
LENGTHS: Final = (
    *(b"Content-Length: " + b"1" * 4301, b"Content-Length: " + b"0" * 4301, b"Content-Length: -1"),
    *(
        b"Content-Length: +2",
        b"Content-Length: 2,2",
        b"Content-Length: 0x2",
        b"Content-Length: 2 2",
    ),
    *(b"Content-Length:", b"Content-Length: 2.0", b"Content-Length: \xb2", b"Content-Length: 1e1"),
    *(b"Content-Length: 18446744073709551616", b"Content-Length: 9223372036854775808"),
    *(
        b"Content-Length: 2\r\nContent-Length: 3",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
    ),
    *(b"Transfer-Encoding: chunked\r\nContent-Length: 2", b"Content-Length: 2\x00"),
    *(b"Transfer-Encoding: gzip", b"Transfer-Encoding: identity", b"Transfer-Encoding:"),
    *(b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, gzip"),
    *(b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: xchunked"),
    *(
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: \x0bchunked",
    ),
    *(
        b"Transfer-Encoding : chunked",
        b"Transfer-Encoding: chunked;q=1",
        b"Transfer-Encoding: ch\xfcnked",
    ),
)
CHUNKS: Final = (
    *(
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x2\r\n{}\r\n0\r\n\r\n",
        b"+2\r\n{}\r\n0\r\n\r\n",
    ),
    *(
        b"f" * 17 + b"\r\n{}",
        b"2\n{}\n0\n\n",
        b"2\r\n{}0\r\n\r\n",
        b"2\r\n{}\n0\r\n\r\n",
        b"2;\x00\r\n{}",
    ),
    *(b"2\r\n{}\r\n0\r\nno trailer\r\n\r\n", b"2\r\n{}\r\n0\r\nBad Name: 1\r\n\r\n", b"2 " * 3000),
    *(b"2;" + b"a" * 5000, b"1_0\r\n{}", b"\x00\r\n", b"2\r\r\n{}\r\n0\r\n\r\n", b"\xb2\r\n{}\r\n"),
    *(b"2\r\n{}\r\n0\r\n" + b"T: 1\r\n" * 9000, b"2\r\n{}\rx"),
)
TYPES: Final = (
    *(
        b"multipart/form-data",
        b"multipart/form-data; boundary=",
        b"multipart/form-data; boundary=\xff",
    ),
    *(b"multipart/form-data; boundary=" + b"b" * 5000, b'multipart/form-data; boundary="'),
    *(
        b"multipart/form-data; boundary*=utf-8''%ff",
        b"multipart/form-data; boundary*0=a; boundary*1=b",
    ),
    *(b"multipart/form-data;boundary*1*;boundary*", b"application/json;boundary*=*;boundary*0*"),
    *(b"multipart/form-data; boundary*=klingon''a", b"multipart/form-data; boundary=a\tb"),
    *(b"multipart/form-data; boundary==?utf-8?q?a?=", b"multipart/mixed; boundary=a", b"\xff/\xfe"),
    *(b"application/json; charset=utf-7", b"application/json; charset*=x'y'z", b";", b"a/b/c"),
    *(
        b"application/json; charset=\xff",
        b"application/json;" * 500,
        b"application/x-www-form-urlencoded",
    ),
)
BODIES: Final = (
    *(
        b"",
        b"\xff\xfe\x00",
        b"{",
        b'{"a":' * 3000,
        b"%ff=%fe&%=%",
        b"--b\r\n\r\n\r\n--b--\r\n",
        b"--" * 900,
    ),
    *(
        b"--\xff\r\nContent-Disposition: form-data\r\n\r\n\r\n--\xff--",
        b"\x00" * 99,
        b"--a\r\n\xff: \xfe\r\n",
    ),
    b"--" + b"b" * 5000 + b"\r\nContent-Disposition: form-data; name=\xff\r\n\r\n--",
)


class Raw(NamedTuple):
    """One request as bytes, and what is wrong in it."""

    kind: str
    data: bytes


def write(
    first: bytes, *headers: bytes, host: tuple[bytes, ...] = (b"Host: a",), body: bytes = b""
) -> bytes:
    lines = b"".join(line + b"\r\n" for line in (first, *host, *headers))
    return lines + b"Connection: close\r\n\r\n" + body


def list_wrong_heads() -> Iterator[Raw]:
    """Return requests that are wrong before their body, from the tables above."""
    for path, method in product(PATHS, METHODS):
        yield Raw("method", write(method + b" " + path + b" HTTP/1.1"))
    for path, version in product(PATHS, VERSIONS):
        yield Raw("version", write(b"GET " + path + b" " + version))
    for method, target in product((b"GET", b"POST", b"HEAD"), TARGETS):
        yield Raw("target", write(method + b" " + target + b" HTTP/1.1", b"Content-Length: 0"))
    for path, hosts in product(PATHS, HOSTS):
        yield Raw("host", write(b"GET " + path + b" HTTP/1.1", host=hosts))
    for path, header in product(PATHS, HEADERS):
        yield Raw("header", write(b"GET " + path + b" HTTP/1.1", header))


def list_wrong_bodies() -> Iterator[Raw]:
    """Return requests whose body is wrong, or wrongly announced."""
    for path, method, length in product(PATHS, (b"GET", b"POST", b"PUT"), LENGTHS):
        yield Raw("length", write(method + b" " + path + b" HTTP/1.1", length, body=b"{}"))
    for path, method, chunks in product(PATHS, (b"GET", b"POST"), CHUNKS):
        first = method + b" " + path + b" HTTP/1.1"
        yield Raw("chunks", write(first, b"Transfer-Encoding: chunked", body=chunks))
    for path, kind, body in product(PATHS_OF_BODIES, TYPES, BODIES):
        headers = (b"Content-Type: " + kind, b"Content-Length: %d" % len(body))
        yield Raw("body", write(b"POST " + path + b" HTTP/1.1", *headers, body=body))


def list_mutants(count: int) -> Iterator[Raw]:
    """Return good requests with a few bytes changed: the same ones in every run."""
    chance = random.Random(16)
    good = [
        write(
            b"POST " + path + b" HTTP/1.1", b"Content-Type: application/json", *framing, body=body
        )
        for path in PATHS
        for framing, body in (
            ((b"Content-Length: 2",), b"{}"),
            ((b"Transfer-Encoding: chunked",), b"2\r\n{}\r\n0\r\n\r\n"),
        )
    ]
    odd = (b"\r", b"\n", b"\x00", b" ", b"\t", b":", b";", b",", b"\xff", b"\x7f", b"0", b"%", b"/")
    for _ in range(count):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(3)] = chance.choice(odd) * chance.randrange(1, 3)
        yield Raw("mutant", bytes(data))


async def ask(service: Service, raw: Raw, credentials: bytes) -> bytes:
    """Send a request and nothing more, and read until the server hangs up."""
    last = b"Connection: close\r\n"
    reader, writer = await asyncio.open_connection(HOST, service.port)
    try:
        # With a line that ends whatever is still open; and nothing more is to come.
        end = b"\r\n\r\n0\r\n\r\nEND\r\n\r\n"
        writer.write(raw.data.replace(last, credentials + last, 1) + end)
        with suppress(OSError):  # The server may have hung up already.
            writer.write_eof()
        async with asyncio.timeout(SECONDS):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def ask_all(service: Service, requests: list[Raw]) -> list[bytes]:
    named = service.add_merchant().headers.items()
    credentials = b"".join(f"{name}: {value}\r\n".encode() for name, value in named)
    places = asyncio.Semaphore(CONNECTIONS)

    async def ask_one(raw: Raw) -> bytes:
        async with places:
            return await ask(service, raw, credentials)

    return await asyncio.gather(*map(ask_one, requests))


def split_answers(answer: bytes) -> list[bytes]:
    """Return the heads of the answers on a connection."""
    return re.findall(rb"(?s)HTTP/1\.1 [0-9]{3} .*?\r\n\r\n", answer)


def test_whatever_arrives_every_answer_is_ours_and_none_is_a_failure(tmp_path: Path) -> None:
    requests = [*list_wrong_heads(), *list_wrong_bodies(), *list_mutants(scaled(8000))]
    assert len(requests) >= 3000

    with running_behind_proxy(tmp_path / "data") as service:
        answers = asyncio.run(ask_all(service, requests))

    heads = [split_answers(answer) for answer in answers]
    every = [head for found in heads for head in found]
    foreign = [head for head in every if b"\r\nx-request-id: " not in head]
    failed = [
        (raw, found)
        for raw, found in zip(requests, heads, strict=True)
        if any(head.startswith(b"HTTP/1.1 5") for head in found)
    ]
    silent = Counter(raw.kind for raw, found in zip(requests, heads, strict=True) if not found)
    assert foreign == []
    assert failed == []
    assert silent == Counter()
