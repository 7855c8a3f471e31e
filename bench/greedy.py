"""A greedy merchant: the ways to slow down others, one process for each.

Run by `bench.fairness` as `python -m bench.greedy WAY`, with what it needs to know as JSON on its
standard input. Says when it begins, goes on until it is stopped, and then prints how its requests
were answered.
"""

import asyncio
import json
import os
import re
import signal
import ssl
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Any, Final

from bench.workload import IMAGE_BODY, ORDER_BODY, PHOTO
from printworks.starting import give_way

HOST: Final = "127.0.0.1"
# Other machines would send this; here it must not take the processor from the service.
NICENESS: Final = 10
BOUNDARY: Final = "-----greedy"
_TOKEN: Final = re.compile(r'name="form_token" value="([^"]+)"')


@dataclass
class Greed:
    """What a way works with, and how it was answered."""

    port: int
    ca: str
    merchant: str
    key: str
    # An order with a thousand images, and one without.
    large: int
    plain: int
    answers: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.tls = ssl.create_default_context(cafile=self.ca)

    def write(self, method: str, path: str, body: Any = None, **headers: str) -> bytes:
        """Write a request of the greedy merchant."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = {
            "Host": f"{HOST}:{self.port}",
            "X-Service-MerchantId": self.merchant,
            "X-Service-REST-API-Key": self.key,
            "Content-Type": "application/json",
            "Content-Length": str(len(content)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content

    async def open(
        self, source: str | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection, from an address of this machine if given."""
        local = (source, 0) if source else None
        return await asyncio.open_connection(
            HOST, self.port, ssl=self.tls, server_hostname=HOST, local_addr=local
        )

    async def repeat(self, requests: Iterator[bytes], *, every: float = 0) -> None:
        """Send requests through one connection for ever, each after the answer to the last."""
        while True:
            try:
                reader, writer = await self.open()
                while True:
                    writer.write(next(requests))
                    await read_answer(reader, self.answers)
                    await asyncio.sleep(every)
            except (OSError, EOFError) as error:
                self.answers[type(error).__name__] += 1
                await asyncio.sleep(0.1)

    async def repeat_all(
        self, connections: int, make: Callable[[], Iterator[bytes]], *, every: float = 0
    ) -> None:
        """Repeat requests through so many connections."""
        await asyncio.gather(*(self.repeat(make(), every=every) for _ in range(connections)))


async def read_answer(reader: asyncio.StreamReader, answers: Counter[str]) -> tuple[bytes, bytes]:
    """Read an answer and count its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    answers[head.split()[1].decode()] += 1
    lower = head.lower()
    if b"transfer-encoding: chunked" in lower:
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return head, body
    length = lower.partition(b"content-length:")[2].partition(b"\r\n")[0]
    return head, await reader.readexactly(int(length or 0))


async def create(greed: Greed) -> None:
    """Create orders through 600 connections."""
    await greed.repeat_all(600, lambda: cycle([greed.write("POST", "/v3.0/orders", ORDER_BODY)]))


async def list_json(greed: Greed) -> None:
    """Read 8 lists of 250 orders with 500 images each at a time."""
    await greed.repeat_all(8, lambda: cycle([greed.write("GET", "/v3.0/orders?limit=250")]))


async def list_xml(greed: Greed) -> None:
    """Read the same as XML."""
    request = greed.write("GET", "/v3.0/orders?limit=250", Accept="application/xml")
    await greed.repeat_all(8, lambda: cycle([request]))


async def reprice(greed: Greed) -> None:
    """Change the shipping of an order of 1,000 images through 4 connections."""
    methods = ("Express", "Standard")
    bodies = [{**ORDER_BODY, "preferredShippingMethod": method} for method in methods]
    path = f"/v3.0/orders/{greed.large}"
    await greed.repeat_all(4, lambda: cycle([greed.write("PUT", path, body) for body in bodies]))


async def read_often(greed: Greed) -> None:
    """Read an order 2,000 times a second."""
    request = greed.write("GET", f"/v3.0/orders/{greed.plain}")
    await greed.repeat_all(100, lambda: cycle([request]), every=0.05)


async def upload_slowly(greed: Greed) -> None:
    """Send 300 pictures, each a kilobyte every half second."""
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    head = greed.write(
        "POST", "/v3.0/images/check", Content_Type=content_type, Content_Length="5000000"
    )
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'

    async def upload() -> None:
        while True:
            try:
                reader, writer = await greed.open()
                writer.write(head + part.encode())
                answer = asyncio.create_task(read_answer(reader, greed.answers))
                while not answer.done():
                    writer.write(os.urandom(1024))
                    await writer.drain()
                    await asyncio.wait([answer], timeout=0.5)
                answer.result()
                writer.close()
                await asyncio.sleep(1)
            except (OSError, EOFError) as error:
                greed.answers[type(error).__name__] += 1
                await asyncio.sleep(1)

    await asyncio.gather(*(upload() for _ in range(300)))


async def sign_in(greed: Greed) -> None:
    """Sign in from 60 addresses with wrong passwords."""

    async def guess(number: int) -> None:
        while True:
            try:
                await _guess(greed, f"127.0.1.{number + 1}", f"somebody-{number}@shop.example")
            except (OSError, EOFError) as error:
                greed.answers[type(error).__name__] += 1
                await asyncio.sleep(0.5)

    await asyncio.gather(*(guess(number) for number in range(60)))


async def _guess(greed: Greed, source: str, email: str) -> None:
    reader, writer = await greed.open(source)
    for attempt in count():
        writer.write(f"GET /sign-in HTTP/1.1\r\nHost: {HOST}:{greed.port}\r\n\r\n".encode())
        head, body = await read_answer(reader, Counter())
        cookie = re.search(rb"(?i)set-cookie: ([^;]+)", head)
        token = _TOKEN.search(body.decode())
        if not cookie or not token:
            raise EOFError
        form = f"form_token={token[1]}&email={email}&password=wrong-password-{attempt}".encode()
        writer.write(
            f"POST /sign-in HTTP/1.1\r\nHost: {HOST}:{greed.port}\r\n"
            f"Origin: https://{HOST}:{greed.port}\r\nCookie: {cookie[1].decode()}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(form)}\r\n\r\n".encode()
            + form
        )
        await read_answer(reader, greed.answers)


async def use_slow_hosts(greed: Greed) -> None:
    """Add 600 images from six hosts that send a byte every second."""
    ports = [await _start_slow_host(f"127.0.2.{number + 1}") for number in range(6)]
    for batch in range(24):
        addresses = [
            f"http://127.0.2.{number % 6 + 1}:{ports[number % 6]}/{batch}-{number}.jpg"
            for number in range(25)
        ]
        body = [{**IMAGE_BODY, "url": address} for address in addresses]
        reader, writer = await greed.open()
        writer.write(greed.write("POST", f"/v3.0/orders/{greed.plain}/images/batch", body))
        await read_answer(reader, greed.answers)
        writer.close()
    await asyncio.Event().wait()


async def _start_slow_host(address: str) -> int:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 5000000\r\n\r\n"
            )
            while True:
                writer.write(b"\xff")
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            writer.close()

    server = await asyncio.start_server(drip, address, 0)
    return int(server.sockets[0].getsockname()[1])


async def ask_prices(greed: Greed) -> None:
    """Ask for 1,000 prices at a time through 16 connections."""
    path = "/v3.0/catalogue/service%20direct/destination/GB/prices"
    request = greed.write("POST", path, {"skus": [PHOTO] * 1000})
    await greed.repeat_all(16, lambda: cycle([request]))


async def show_wrong_keys(greed: Greed) -> None:
    """Ask with wrong keys through 100 connections."""

    def ask() -> Iterator[bytes]:
        for number in count():
            headers = {"X_Service_REST_API_Key": f"pw_sandbox_{number:043}"}
            yield greed.write("GET", f"/v3.0/orders/{greed.plain}", **headers)

    await greed.repeat_all(100, ask)


async def replay(greed: Greed) -> None:
    """Add a batch of 25 images with the same Idempotency-Key, through 32 connections."""
    batch = [IMAGE_BODY] * 25
    path = f"/v3.0/orders/{greed.plain}/images/batch"
    request = greed.write("POST", path, batch, Idempotency_Key="the-same")
    await greed.repeat_all(32, lambda: cycle([request]))


async def send_batches(greed: Greed) -> None:
    """Send batches of 250 images that are refused because of the last one, on 16 connections."""
    batch = [*[IMAGE_BODY] * 249, {**IMAGE_BODY, "sku": "nothing"}]
    path = f"/v3.0/orders/{greed.plain}/images/batch"
    await greed.repeat_all(16, lambda: cycle([greed.write("POST", path, batch)]))


WAYS: Final[dict[str, Callable[[Greed], Awaitable[None]]]] = {
    # Before any that creates orders: lists begin with the newest, and these should be large.
    "lists": list_json,
    "lists-xml": list_xml,
    "creates": create,
    "repricing": reprice,
    "reads": read_often,
    "uploads": upload_slowly,
    "sign-ins": sign_in,
    "prices": ask_prices,
    "wrong-keys": show_wrong_keys,
    "replays": replay,
    "batches": send_batches,
    # The last: its downloads go on after it.
    "slow-hosts": use_slow_hosts,
}


async def main() -> None:
    """Be greedy until told to stop."""
    give_way(NICENESS, leads_session=True)
    greed = Greed(**json.loads(sys.stdin.readline()))
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    print("begun", flush=True)
    work = asyncio.ensure_future(WAYS[sys.argv[1]](greed))
    await asyncio.wait([work, asyncio.ensure_future(stopped.wait())], return_when="FIRST_COMPLETED")
    failed = work.exception() if work.done() else None
    print(json.dumps({**greed.answers, **({"failed": repr(failed)} if failed else {})}), flush=True)
    # Hundreds of connections are not worth closing one by one.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    asyncio.run(main())
