"""The door to everything that is done with pixels: ask, and get a result or a verdict.

No image library is loaded into the process that asks. A picture that crashes, hangs or
explodes costs itself.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import LifoQueue
from signal import Signals
from types import TracebackType
from typing import Final, Self

import msgspec

from printworks.imaging.formats import EVERY_FORMAT, Format
from printworks.imaging.manifest import Manifest, find_sha256
from printworks.imaging.messages import (
    MIB,
    PREVIEW,
    PRINT,
    PROXY,
    THUMBNAIL,
    Answer,
    Cost,
    DrawingDone,
    DrawingRefused,
    DrawingReport,
    Facts,
    Failed,
    PrepareTask,
    PrintPlan,
    ProcessLimits,
    ProofTask,
    RenderTask,
    Task,
)
from printworks.imaging.slot import ZYGOTE, Slot, ZygoteDied, ZygoteNotStarted
from printworks.rules.sizing import Pixels, Placement, PrintArea, Sizing, place

PREPARE_LIMITS: Final = ProcessLimits(memory=1024 * MIB, cpu_seconds=8, wall_seconds=10)
RENDER_LIMITS: Final = ProcessLimits(memory=2048 * MIB, cpu_seconds=40, wall_seconds=60)

SENSELESS: Final = "The child's answer makes no sense."
LONGEST_REASON: Final = 300

_read_answer = msgspec.json.Decoder(Answer).decode


@dataclass(frozen=True, slots=True)
class Invalid:
    """The file is at fault; the sentence is for the merchant."""

    reason: str


@dataclass(frozen=True, slots=True)
class CannotBeProcessed:
    """The child came to no verdict; the sentence is for the operator.

    Most likely the file is hostile. It may also be the machine, so one more try, later, is
    in order; a second is not. Unless it `is_ours`: then nobody has looked at the file yet.
    """

    reason: str
    is_ours: bool = False


Rejected = Invalid | CannotBeProcessed


@dataclass(frozen=True, slots=True)
class Proofs:
    """Preview and thumbnail of a placement, as files."""

    placement: Placement
    preview: Path
    thumbnail: Path
    cost: Cost


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """A picture that can be printed: what it is, its proofs, and a proxy if one was wanted."""

    facts: Facts
    proofs: Proofs
    proxy: Path | None = None

    @property
    def placement(self) -> Placement:
        """How it lies on the product."""
        return self.proofs.placement


@dataclass(frozen=True, slots=True)
class Rendered:
    """A print file."""

    file: Path
    manifest: Manifest
    cost: Cost


class ImageProcessor:
    """Several zygotes, each busy with one picture at a time; use it from as many threads."""

    def __init__(
        self,
        *,
        slots: int | None = None,
        prepare_limits: ProcessLimits = PREPARE_LIMITS,
        render_limits: ProcessLimits = RENDER_LIMITS,
        zygote: Sequence[str] = ZYGOTE,
    ) -> None:
        self._prepare_limits = prepare_limits
        self._render_limits = render_limits
        self._all = [Slot(zygote) for _ in range(slots or os.cpu_count() or 1)]
        # The one used last is the warmest; the others need not even be started.
        self._free: LifoQueue[Slot] = LifoQueue()
        for slot in self._all:
            self._free.put(slot)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for what is under way, and end the zygotes."""
        while self._all:
            self._free.get().stop()
            self._all.pop()

    def prepare(
        self,
        source: Path,
        area: PrintArea,
        sizing: Sizing,
        out: Path,
        *,
        formats: frozenset[Format] = EVERY_FORMAT,
        with_proxy: bool = False,
    ) -> PreparedImage | Rejected:
        """Judge a file and draw its proofs into the folder `out`, in one decode.

        A proxy is worth its encoding to whoever will draw other proofs of the same picture.
        """
        task = PrepareTask(
            source=str(source.absolute()),
            out=str(out.absolute()),
            limits=self._prepare_limits,
            formats=formats,
            area=_in_words(area),
            sizing=sizing,
            with_proxy=with_proxy,
        )
        writes = (PREVIEW, THUMBNAIL, PROXY) if with_proxy else (PREVIEW, THUMBNAIL)
        done, cost = self._do(task, writes=writes)
        if not isinstance(done, DrawingDone):
            return done
        facts = done.facts
        if facts is None or min(facts.pixels) < 1:
            return CannotBeProcessed(SENSELESS)
        placement = place(facts.pixels, area, sizing)
        proofs = Proofs(placement, out / PREVIEW, out / THUMBNAIL, cost)
        return PreparedImage(facts, proofs, out / PROXY if with_proxy else None)

    def proof(
        self, proxy: Path, picture: Pixels, area: PrintArea, sizing: Sizing, out: Path
    ) -> Proofs | Rejected:
        """Draw the proofs of a prepared picture for another product or rule, from its proxy."""
        task = ProofTask(
            source=str(proxy.absolute()),
            out=str(out.absolute()),
            limits=self._prepare_limits,
            picture=picture,
            area=_in_words(area),
            sizing=sizing,
        )
        done, cost = self._do(task, writes=(PREVIEW, THUMBNAIL))
        if not isinstance(done, DrawingDone):
            return done
        return Proofs(place(picture, area, sizing), out / PREVIEW, out / THUMBNAIL, cost)

    def render(self, source: Path, plan: PrintPlan, out: Path) -> Rendered | Rejected:
        """Draw the print file into the folder `out`; the plan of a manifest draws it again."""
        task = RenderTask(
            source=str(source.absolute()),
            out=str(out.absolute()),
            limits=self._render_limits,
            plan=plan,
        )
        done, cost = self._do(task, writes=(PRINT,))
        if not isinstance(done, DrawingDone):
            return done
        file = out / PRINT
        # Reckoned here: the child is not asked what it would like its hash to be.
        manifest = Manifest(
            source_sha256=find_sha256(source),
            plan=plan,
            colour=done.colour,
            output_sha256=find_sha256(file),
            library=done.library,
        )
        return Rendered(file, manifest, cost)

    def _do(self, task: Task, *, writes: Sequence[str]) -> tuple[DrawingDone | Rejected, Cost]:
        trouble = _find_trouble(task)
        if trouble is not None:
            return trouble, Cost()
        report = self._ask(task)
        if isinstance(report, CannotBeProcessed):
            return report, Cost()
        done = _judge(report)
        if isinstance(done, DrawingDone) and not all(
            _is_file(Path(task.out) / name) for name in writes
        ):
            done = CannotBeProcessed("The child did not write what it should have.")
        return done, report.cost

    def _ask(self, task: Task) -> DrawingReport | CannotBeProcessed:
        """Have a child do the task; a zygote that dies meanwhile is replaced, once."""
        with self._slot() as slot:
            for _ in range(2):
                try:
                    return slot.ask(task)
                except ZygoteDied as death:
                    is_ours = isinstance(death, ZygoteNotStarted)
                    reason = str(death)
        return CannotBeProcessed(reason, is_ours)

    @contextmanager
    def _slot(self) -> Iterator[Slot]:
        if not self._all:
            raise RuntimeError("The studio is closed.")
        slot = self._free.get()
        try:
            yield slot
        finally:
            self._free.put(slot)


def _find_trouble(task: Task) -> Rejected | None:
    """Look at what a child would only stumble over."""
    source = Path(task.source)
    try:
        if not source.is_file():
            return CannotBeProcessed("There is no such file.", is_ours=True)
        if not Path(task.out).is_dir():
            return CannotBeProcessed("There is no folder to write to.", is_ours=True)
        return Invalid("The file is empty.") if source.stat().st_size == 0 else None
    except OSError as error:
        return CannotBeProcessed(f"The file cannot be read: {error.strerror}.", is_ours=True)


def _judge(report: DrawingReport) -> DrawingDone | Rejected:
    if report.was_late:
        return CannotBeProcessed("The child took too long.")
    try:
        answer: Answer = _read_answer(report.line)
    except msgspec.DecodeError:
        if report.line.endswith("\n"):
            return CannotBeProcessed(SENSELESS)
        return CannotBeProcessed(_explain(report.signal))
    match answer:
        case DrawingDone():
            return answer
        case DrawingRefused():
            return Invalid(answer.reason[:LONGEST_REASON])
        case Failed():
            return CannotBeProcessed(answer.reason[:LONGEST_REASON])


def _explain(ended_by: int | None) -> str:
    if ended_by == Signals.SIGXCPU:
        return "The child used up its time on the processor."
    if ended_by is None:
        return "The child ended without an answer."
    try:
        return f"The child was ended by {Signals(ended_by).name}."
    except ValueError:
        return f"The child was ended by signal {ended_by}."


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _in_words(area: PrintArea) -> tuple[str, str]:
    return str(area.width), str(area.height)
