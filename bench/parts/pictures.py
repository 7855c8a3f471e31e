"""Measure image processing against a bare decoder and encoder and against vipsthumbnail."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.progress import track

from bench import tools
from bench.lines import Line, compare_least, state, state_most, subtract_least
from bench.session import Session
from bench.workload import PREVIEW_EDGE, THUMBNAIL_EDGE
from printworks.imaging.manifest import plan_print
from printworks.imaging.messages import Cost, PrepareTask
from printworks.imaging.processor import PREPARE_LIMITS, ImageProcessor, PreparedImage, Rendered
from printworks.imaging.slot import ENVIRONMENT
from printworks.rules.sizing import Layout, Pixels, PrintArea, Sizing, place

BATCH: Final = 16

# The qualities that the product writes.
PREVIEW_JPEG: Final = ("-quality", "85")
THUMBNAIL_JPEG: Final = ("-quality", "80")
PRINT_JPEG: Final = ("-quality", "94", "-sample", "1x1")


@dataclass(frozen=True)
class Photo:
    """An image, and a print area of the same shape."""

    name: str
    pixels: Pixels
    area: PrintArea
    profile: str | None = None

    @property
    def shrink(self) -> int:
        """How far a decoder may shrink it for a preview."""
        return next(by for by in (8, 4, 2, 1) if max(self.pixels) >= by * PREVIEW_EDGE)


SMALL: Final = Photo("0.3 MP", Pixels(640, 480), PrintArea(Fraction(4), Fraction(3)))
PHONE: Final = Photo("12 MP", Pixels(4032, 3024), PrintArea(Fraction(12), Fraction(9)))
TAGGED: Final = Photo("12 MP in P3", PHONE.pixels, PHONE.area, profile="p3")
# At 300 dpi this area is 5400 by 3600 pixels.
CAMERA: Final = Photo("24 MP", Pixels(6000, 4000), PrintArea(Fraction(18), Fraction(12)))
LARGE: Final = Photo("50 MP", Pixels(8192, 6144), PrintArea(Fraction(12), Fraction(9)))

PHOTOS: Final = (PHONE, TAGGED, CAMERA, LARGE)


@dataclass(frozen=True)
class Expense:
    """The cost of one round; memory only for our own processes."""

    cpu_ms: float
    wall_ms: float
    peak_mb: float = 0.0

    def __add__(self, other: "Expense") -> "Expense":
        return Expense(
            self.cpu_ms + other.cpu_ms,
            self.wall_ms + other.wall_ms,
            max(self.peak_mb, other.peak_mb),
        )


Measure = Callable[[], Expense]
Expenses = Mapping[str, Sequence[Expense]]


class ImageTools:
    """The photos, their renderings, and the tools that make them."""

    def __init__(
        self, folder: Path, processor: ImageProcessor, insider: subprocess.Popen[bytes]
    ) -> None:
        self._folder = folder
        self._processor = processor
        self._insider = insider

    def source(self, photo: Photo) -> Path:
        """The path of its file."""
        return self._folder / f"{photo.name}.jpg"

    def out(self, photo: Photo) -> Path:
        """The folder of its proofs."""
        return self._folder / photo.name

    def make(self, photo: Photo) -> None:
        """Create the photo and its uncompressed renderings."""
        self.out(photo).mkdir()
        size = (str(side) for side in photo.pixels)
        profile = [] if photo.profile is None else [photo.profile]
        command = [sys.executable, "-m", "bench.photos", str(self.source(photo)), *size, *profile]
        subprocess.run(command, cwd=tools.ROOT, check=True)
        draws = (self.prepare, self.render) if photo is CAMERA else (self.prepare,)
        for draw in draws:
            draw(photo)()
            for file in self.out(photo).glob("*.jpg"):
                _run("djpeg", "-outfile", file.with_suffix(".ppm"), file)

    def prepare(self, photo: Photo) -> Measure:
        """Validate it and render preview and thumbnail, in a child process."""

        def measure() -> Expense:
            self._clear(photo)
            started = time.perf_counter()
            layout = Layout(photo.area, Sizing.CROP)
            prepared = self._processor.prepare(self.source(photo), layout, self.out(photo))
            if not isinstance(prepared, PreparedImage):
                raise TypeError(prepared.reason)
            return _expense(prepared.proofs.cost, started)

        return measure

    def prepare_inside(self, photo: Photo) -> Measure:
        """Do the same in a long-lived process."""
        width, height = photo.area.width, photo.area.height
        task = PrepareTask(
            source=str(self.source(photo)),
            out=str(self.out(photo)),
            limits=PREPARE_LIMITS,
            area=(str(width), str(height)),
            sizing=Sizing.CROP,
            with_proxy=False,
        )

        def measure() -> Expense:
            self._clear(photo)
            process = self._insider
            if process.stdin is None or process.stdout is None:
                raise TypeError("The process has no pipes.")
            process.stdin.write(msgspec.json.encode(task) + b"\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(), type=Expense)

        return measure

    def render(self, photo: Photo) -> Measure:
        """Render its print file, in a child process."""
        plan = plan_print(place(photo.pixels, photo.area, Sizing.CROP))

        def measure() -> Expense:
            self._clear(photo)
            started = time.perf_counter()
            rendered = self._processor.render(self.source(photo), plan, self.out(photo))
            if not isinstance(rendered, Rendered):
                raise TypeError(rendered.reason)
            return _expense(rendered.cost, started)

        return measure

    def _clear(self, photo: Photo) -> None:
        """Delete its renderings: overwriting them would take time as well."""
        for file in self.out(photo).glob("*.jpg"):
            file.unlink()

    def decode(self, photo: Photo, *, shrink: int = 1) -> Expense:
        """Decode it and discard the pixels."""
        return _run("djpeg", "-scale", f"1/{shrink}", "-outfile", os.devnull, self.source(photo))

    def encode(self, photo: Photo, name: str, how: Sequence[str]) -> Expense:
        """Encode a rendering again, and discard the bytes."""
        return _run("cjpeg", *how, "-outfile", os.devnull, self.out(photo) / f"{name}.ppm")

    def make_thumbnail(self, photo: Photo, edge: int, quality: int) -> Expense:
        """Make a thumbnail with vipsthumbnail."""
        target = self.out(photo) / f"by vipsthumbnail {edge}.jpg[Q={quality},strip]"
        return _run("vipsthumbnail", self.source(photo), "--size", str(edge), "-o", target)


def measure(session: Session) -> Iterator[Line]:
    """Measure proofs and print files against bare libjpeg-turbo and vipsthumbnail."""
    with ExitStack() as ends:
        processor = ends.enter_context(ImageProcessor(slots=1))
        pair = ends.enter_context(ImageProcessor(slots=2))
        image_tools = ImageTools(session.work, processor, ends.enter_context(_inside()))
        for photo in track((SMALL, *PHOTOS), "making photographs", console=Console(stderr=True)):
            image_tools.make(photo)
        expenses = _interleave(_plan(image_tools), session.sizes.picture_rounds)
        session.figures["programs"] = {name: _summarise(one) for name, one in expenses.items()}
        yield from _compare(expenses)
        yield from _work_in_batches(image_tools, pair, min(3, session.sizes.rounds))


def _plan(shop: ImageTools) -> dict[str, Measure]:
    plan = _plan_ours(shop, SMALL)
    for photo in PHOTOS:
        plan |= _plan_ours(shop, photo)
        plan |= {
            f"djpeg and 2 cjpeg, {photo.name}": _bare_proofs(shop, photo),
            f"2 vipsthumbnail, {photo.name}": _usual_proofs(shop, photo),
        }
    plan[f"render, {CAMERA.name}"] = shop.render(CAMERA)
    plan[f"djpeg and cjpeg, {CAMERA.name}"] = lambda: (
        shop.decode(CAMERA) + shop.encode(CAMERA, "print", PRINT_JPEG)
    )
    return plan


def _plan_ours(shop: ImageTools, photo: Photo) -> dict[str, Measure]:
    return {
        f"prepare, {photo.name}": shop.prepare(photo),
        f"prepare inside, {photo.name}": shop.prepare_inside(photo),
    }


def _bare_proofs(shop: ImageTools, photo: Photo) -> Measure:
    return lambda: (
        shop.decode(photo, shrink=photo.shrink)
        + shop.encode(photo, "preview", PREVIEW_JPEG)
        + shop.encode(photo, "thumbnail", THUMBNAIL_JPEG)
    )


def _usual_proofs(shop: ImageTools, photo: Photo) -> Measure:
    return lambda: (
        shop.make_thumbnail(photo, PREVIEW_EDGE, 85)
        + shop.make_thumbnail(photo, THUMBNAIL_EDGE, 80)
    )


def _interleave(measures: Mapping[str, Measure], rounds: int) -> Expenses:
    """Measure all in turn, round after round, so that noise affects all alike."""
    spent: dict[str, list[Expense]] = {name: [] for name in measures}
    for measure in measures.values():
        measure()
    turns = [name for _ in range(rounds) for name in measures]
    for name in track(turns, "pictures", console=Console(stderr=True)):
        spent[name].append(measures[name]())
    return spent


def _compare(expenses: Expenses) -> Iterator[Line]:
    cpu = {name: [each.cpu_ms for each in spent] for name, spent in expenses.items()}
    peaks = {name: [each.peak_mb for each in spent] for name, spent in expenses.items()}
    for photo in PHOTOS:
        name = photo.name
        ours, bare = cpu[f"prepare, {name}"], cpu[f"djpeg and 2 cjpeg, {name}"]
        usual = cpu[f"2 vipsthumbnail, {name}"]
        yield compare_least(f"prepare / djpeg and 2 cjpeg, {name}", ours, bare)
        yield compare_least(f"prepare / vipsthumbnail, {name}", ours, usual)
        yield state_most(f"prepare, MB, {name}", peaks[f"prepare, {name}"])
    name = CAMERA.name
    ours, bare = cpu[f"render, {name}"], cpu[f"djpeg and cjpeg, {name}"]
    yield compare_least(f"print file / djpeg and cjpeg, {name}", ours, bare)
    yield state_most(f"print file, MB, {name}", peaks[f"render, {name}"])
    for photo in (SMALL, PHONE):
        child, inside = (
            [each.wall_ms for each in expenses[f"{how}, {photo.name}"]]
            for how in ("prepare", "prepare inside")
        )
        title = f"a process for each picture, ms on top, {photo.name}"
        yield subtract_least(title, child, inside)


def _work_in_batches(shop: ImageTools, pair: ImageProcessor, rounds: int) -> list[Line]:
    """Measure throughput with one and with two images at a time."""

    def prepare(number: int) -> float:
        out = shop.out(PHONE) / f"batch {number}"
        out.mkdir(exist_ok=True)
        prepared = pair.prepare(shop.source(PHONE), Layout(PHONE.area, Sizing.CROP), out)
        if not isinstance(prepared, PreparedImage):
            raise TypeError(prepared.reason)
        return prepared.proofs.cost.peak_memory / 2**20

    rates: dict[int, list[float]] = {1: [], 2: []}
    peaks: list[float] = []
    for at_a_time in (1, 2) * rounds:
        with ThreadPoolExecutor(at_a_time) as threads:
            started = time.perf_counter()
            peaks += threads.map(prepare, range(BATCH))
            rates[at_a_time].append(BATCH / (time.perf_counter() - started))
    name = PHONE.name
    return [
        state(f"pictures/s, {name}, one at a time", rates[1]),
        state(f"pictures/s, {name}, two at a time", rates[2]),
        state_most(f"each of two at a time, MB, {name}", peaks),
    ]


def _summarise(spent: Sequence[Expense]) -> dict[str, Any]:
    return {
        "least_cpu_ms": min(each.cpu_ms for each in spent),
        "cpu_ms": median(each.cpu_ms for each in spent),
        "wall_ms": median(each.wall_ms for each in spent),
        "peak_mb": max(each.peak_mb for each in spent),
        "rounds": [asdict(each) for each in spent],
    }


def _expense(cost: Cost, started: float) -> Expense:
    wall = time.perf_counter() - started
    return Expense(cost.cpu_seconds * 1000, wall * 1000, cost.peak_memory / 2**20)


def _run(*command: str | Path) -> Expense:
    """Run a program and return its cost, as the kernel counted it."""
    started = time.perf_counter()
    # One thread, as in our child processes.
    environment = {**os.environ, "VIPS_CONCURRENCY": "1"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        message = f"{command[0]} failed with {process.returncode}."
        raise RuntimeError(message)
    wall = time.perf_counter() - started
    # Memory is not recorded: the kernel includes that of the parent process.
    return Expense((usage.ru_utime + usage.ru_stime) * 1000, wall * 1000)


@contextmanager
def _inside() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.inside"],
        cwd=tools.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
    )
    with process:
        yield process
