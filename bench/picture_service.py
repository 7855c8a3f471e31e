"""Measure pictures through the whole service, against two bare libvips processes.

Run `python -m bench.picture_service` from the repository. The service downloads each picture by its
address, validates it, renders its proofs, stores everything and says Ok. The bare processes decode
the same picture and write the same two proofs, again and again. CPU time is compared, as the kernel
counts it: with two cores at work, it is what limits both.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from bench import tools
from bench.production import PHOTO
from tests.running import Client, Service, running

SIZE: Final = ("4032", "3024")
PREVIEW_EDGE: Final = 1200
LEAST: Final = 0.7
AN_ORDER: Final = {
    "recipientName": "A Recipient",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@contextmanager
def serving_photos(photo: bytes) -> Iterator[str]:
    """Serve the photo at every path, each time with another comment: another picture."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with the photo."""
            note = self.path.encode()
            comment = b"\xff\xfe" + (len(note) + 2).to_bytes(2, "big") + note
            self.send_response(200)
            self.send_header("Content-Length", str(len(photo) + len(comment)))
            self.end_headers()
            self.wfile.write(photo[:2] + comment + photo[2:])

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def measure_service(folder: Path, photo: Path, count: int) -> float:
    """Return the CPU milliseconds of the worker and its children for each picture."""
    with (
        serving_photos(photo.read_bytes()) as address,
        running(folder / "data", outbound_allow_networks="127.0.0.0/8") as service,
        service.client(service.add_merchant()) as client,
    ):
        # The first ones start what is started once.
        _process(client, [f"{address}/first/{number}.jpg" for number in range(4)])
        before = _read_cpu(service)
        _process(client, [f"{address}/{number}.jpg" for number in range(count)])
        return (_read_cpu(service) - before) / count


def _process(client: Client, urls: list[str]) -> None:
    order = client.post("/v3.0/orders", AN_ORDER).data["id"]
    images = [{"sku": PHOTO, "url": url, "copies": 1, "sizing": "Crop"} for url in urls]
    client.post(f"/v3.0/orders/{order}/images/batch", images)
    while True:
        found = [image["status"] for image in client.get(f"/v3.0/orders/{order}").data["images"]]
        if "NotYetDownloaded" not in found:
            break
        time.sleep(0.1)
    if found != ["Ok"] * len(urls):
        message = f"Not all pictures are Ok: {found}"
        raise AssertionError(message)


def _read_cpu(service: Service) -> float:
    """Return the CPU milliseconds of the worker, its zygotes, and their children so far."""
    [worker] = service.find_workers()
    family = [worker]
    for process in family:
        children = Path(f"/proc/{process}/task").glob("*/children")
        family += [int(child) for file in children for child in file.read_text().split()]
    return sum(map(_read_process, family))


def _read_process(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    # Its own, and that of its children that have ended.
    own = sum(map(int, fields[11:13]))
    ended = sum(map(int, fields[13:15]))
    return (own + ended) * 1000 / _TICKS


def measure_bare(photo: Path, count: int) -> float:
    """Return the CPU milliseconds of two libvips processes for each picture."""
    command = [sys.executable, "-m", "bench.picture_service", "--bare", str(photo)]
    environment = {**os.environ, "VIPS_CONCURRENCY": "1"}

    def run(_: int) -> float:
        ended = subprocess.run(
            [*command, "--count", str(count)],
            cwd=tools.ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
        )
        return float(json.loads(ended.stdout))

    with ThreadPoolExecutor(2) as threads:
        return sum(threads.map(run, range(2))) / 2


def work_bare(photo: Path, count: int) -> float:
    """Decode the photo and write its two proofs, and nothing else."""
    import pyvips

    pyvips.cache_set_max(0)
    with tempfile.TemporaryDirectory() as folder:

        def prepare() -> None:
            image = pyvips.Image.jpegload(str(photo), access="sequential", shrink=2)
            preview = image.resize(PREVIEW_EDGE / image.width).copy_memory()
            preview.jpegsave(f"{folder}/preview.jpg", Q=85, keep="none", subsample_mode="on")
            preview.resize(0.2).jpegsave(f"{folder}/thumbnail.jpg", Q=80, keep="none")

        prepare()
        before = _own_cpu()
        for _ in range(count):
            prepare()
        return (_own_cpu() - before) / count


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def main() -> None:
    """Measure both in turn, and print the least of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", type=Path)
    options = parser.parse_args()
    if options.bare is not None:
        print(work_bare(options.bare, options.count))
        return
    ours, bare = [], []
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        photo = Path(folder) / "photo.jpg"
        command = [sys.executable, "-m", "bench.photos", str(photo), *SIZE]
        subprocess.run(command, cwd=tools.ROOT, check=True)
        for number in range(options.rounds):
            place = Path(folder) / str(number)
            place.mkdir()
            ours.append(measure_service(place, photo, options.count))
            bare.append(measure_bare(photo, options.count // 2))
    ratio = min(bare) / min(ours)
    print(f"through the service {min(ours):.0f} ms, bare libvips {min(bare):.0f} ms each")
    print(f"bare / service {ratio:.2f}, at least {LEAST}: {'met' if ratio >= LEAST else 'missed'}")


if __name__ == "__main__":
    main()
