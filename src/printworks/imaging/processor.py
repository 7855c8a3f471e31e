"""The image processor: the entry point for all image processing.

No image library is loaded into the calling process. A picture that crashes its decoder, hangs
or needs too much memory affects no other.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import LifoQueue
from signal import Signals
from typing import Final, Self

import msgspec

from printworks.imaging.formats import Format, find_format
from printworks.imaging.manifest import Manifest, find_sha256
from printworks.imaging.messages import (
    MIB,
    MOCKUP,
    PREVIEW,
    PREVIEW_EDGE,
    PRINT,
    PROXY,
    THUMBNAIL,
    Answer,
    ChildReport,
    Cost,
    Facts,
    Failed,
    MockupTask,
    PrepareTask,
    PrintPlan,
    ProcessLimits,
    ProofTask,
    RenderingDone,
    RenderingRefused,
    RenderTask,
    Task,
)
from printworks.imaging.slot import ZYGOTE, Slot, ZygoteDied, ZygoteNotStarted
from printworks.rules.mockups import MockupPlan
from printworks.rules.sizing import Layout, Pixels, Placement, PrintArea, place

PREPARE_LIMITS: Final = ProcessLimits(memory=1024 * MIB, cpu_seconds=8, wall_seconds=10)
RENDER_LIMITS: Final = ProcessLimits(memory=2048 * MIB, cpu_seconds=40, wall_seconds=60)

INVALID_ANSWER: Final = "The child's answer is not valid."
LONGEST_REASON: Final = 300
# This many bytes identify the format.
_HEAD: Final = 12
_SLOWER: Final = 3

_read_answer = msgspec.json.Decoder(Answer).decode


@dataclass(frozen=True, slots=True)
class Invalid:
    """The file cannot be printed; the reason is a sentence for the merchant."""

    reason: str


@dataclass(frozen=True, slots=True)
class CannotBeProcessed:
    """The child came to no result; the reason is a sentence for the operator.

    Most likely the file is malicious. The machine may also be the cause, so retry once, later.
    After an infrastructure error no child has read the file yet.
    """

    reason: str
    is_infrastructure_error: bool = False


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
    """A picture that can be printed: its facts, its proofs, and a proxy if one was asked for."""

    facts: Facts
    proofs: Proofs
    proxy: Path | None = None

    @property
    def placement(self) -> Placement:
        """Where it is placed on the product."""
        return self.proofs.placement


@dataclass(frozen=True, slots=True)
class Rendered:
    file: Path
    manifest: Manifest
    cost: Cost


@dataclass(frozen=True, slots=True)
class DrawnMockup:
    file: Path
    cost: Cost


class ImageProcessor:
    """A pool of zygotes, each of which processes one picture at a time; safe to use from threads."""

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
        # The one used last is warm; the others may never have to be started.
        self._free: LifoQueue[Slot] = LifoQueue()
        for slot in self._all:
            self._free.put(slot)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for running tasks, then stop the zygotes."""
        while self._all:
            self._free.get().stop()
            self._all.pop()

    def prepare(
        self, source: Path, layout: Layout, out: Path, *, with_proxy: bool = False
    ) -> PreparedImage | Rejected:
        """Validate a file and render its proofs into the folder `out`, in one decode.

        Ask for a proxy if other proofs of the same picture will be rendered later.
        """
        task = PrepareTask(
            source=str(source.absolute()),
            out=str(out.absolute()),
            limits=_find_limits(self._prepare_limits, source),
            area=_format_area(layout.area),
            sizing=layout.sizing,
            position=layout.position,
            may_turn=layout.area.may_turn,
            with_proxy=with_proxy,
        )
        writes = (PREVIEW, THUMBNAIL, PROXY) if with_proxy else (PREVIEW, THUMBNAIL)
        done, cost = self._do(task, writes=writes)
        if not isinstance(done, RenderingDone):
            return done
        facts = done.facts
        if facts is None or min(facts.pixels) < 1:
            return CannotBeProcessed(INVALID_ANSWER)
        placement = place(facts.pixels, *layout)
        proofs = Proofs(placement, out / PREVIEW, out / THUMBNAIL, cost)
        return PreparedImage(facts, proofs, out / PROXY if with_proxy else None)

    def proof(
        self,
        proxy: Path,
        picture: Pixels,
        layout: Layout,
        out: Path,
        *,
        edge: int = PREVIEW_EDGE,
    ) -> Proofs | Rejected:
        """Render the proofs of a prepared picture for another product or sizing, from its proxy."""
        task = ProofTask(
            source=str(proxy.absolute()),
            out=str(out.absolute()),
            limits=self._prepare_limits,
            picture=picture,
            area=_format_area(layout.area),
            sizing=layout.sizing,
            position=layout.position,
            may_turn=layout.area.may_turn,
            edge=edge,
        )
        done, cost = self._do(task, writes=(PREVIEW, THUMBNAIL))
        if not isinstance(done, RenderingDone):
            return done
        placement = place(picture, *layout)
        return Proofs(placement, out / PREVIEW, out / THUMBNAIL, cost)

    def render(self, source: Path, plan: PrintPlan, out: Path) -> Rendered | Rejected:
        """Render the print file into the folder `out`; the plan of a manifest renders it again."""
        task = RenderTask(
            source=str(source.absolute()),
            out=str(out.absolute()),
            limits=self._render_limits,
            plan=plan,
        )
        done, cost = self._do(task, writes=(PRINT,))
        if not isinstance(done, RenderingDone):
            return done
        file = out / PRINT
        # Calculated here: the child cannot be trusted with its own hash.
        manifest = Manifest(
            source_sha256=find_sha256(source),
            plan=plan,
            colour=done.colour,
            output_sha256=find_sha256(file),
            library=done.library,
        )
        return Rendered(file, manifest, cost)

    def draw_mockup(self, preview: Path, plan: MockupPlan, out: Path) -> DrawnMockup | Rejected:
        """Draw a mockup into the folder `out`, from the preview that `prepare` or `proof` made."""
        task = MockupTask(
            source=str(preview.absolute()),
            out=str(out.absolute()),
            limits=self._prepare_limits,
            plan=plan,
        )
        done, cost = self._do(task, writes=(MOCKUP,))
        return DrawnMockup(out / MOCKUP, cost) if isinstance(done, RenderingDone) else done

    def _do(self, task: Task, *, writes: Sequence[str]) -> tuple[RenderingDone | Rejected, Cost]:
        problem = _find_problem(task)
        if problem is not None:
            return problem, Cost()
        report = self._ask(task)
        if isinstance(report, CannotBeProcessed):
            return report, Cost()
        done = _read_report(report)
        if isinstance(done, RenderingDone) and not all(
            _is_file(Path(task.out) / name) for name in writes
        ):
            done = CannotBeProcessed("The child did not write what it should have.")
        return done, report.cost

    def _ask(self, task: Task) -> ChildReport | CannotBeProcessed:
        """Run the task in a child; a zygote that dies meanwhile is replaced, once."""
        with self._slot() as slot:
            for _ in range(2):
                try:
                    return slot.ask(task)
                except ZygoteDied as death:
                    failure = CannotBeProcessed(str(death), isinstance(death, ZygoteNotStarted))
        return failure

    @contextmanager
    def _slot(self) -> Iterator[Slot]:
        if not self._all:
            raise RuntimeError("The image processor is closed.")
        slot = self._free.get()
        try:
            yield slot
        finally:
            self._free.put(slot)


def _find_limits(usual: ProcessLimits, source: Path) -> ProcessLimits:
    """Return what a file may use: HEIC takes several times as long to decode as any other."""
    try:
        with source.open("rb") as file:
            is_slow = find_format(file.read(_HEAD)) is Format.HEIC
    except OSError:
        # Reported with what else is wrong.
        return usual
    return msgspec.structs.replace(
        usual,
        cpu_seconds=usual.cpu_seconds * (_SLOWER if is_slow else 1),
        wall_seconds=usual.wall_seconds * (_SLOWER if is_slow else 1),
    )


def _find_problem(task: Task) -> Rejected | None:
    """Check what would make any child fail."""
    broken = partial(CannotBeProcessed, is_infrastructure_error=True)
    source = Path(task.source)
    try:
        if not source.is_file():
            return broken("There is no such file.")
        if not Path(task.out).is_dir():
            return broken("There is no folder to write to.")
        return Invalid("The file is empty.") if source.stat().st_size == 0 else None
    except OSError as error:
        return broken(f"The file cannot be read: {error.strerror}.")


def _read_report(report: ChildReport) -> RenderingDone | Rejected:
    if report.was_late:
        return CannotBeProcessed("The child took too long.")
    try:
        answer: Answer = _read_answer(report.line)
    except msgspec.DecodeError:
        if report.line.endswith("\n"):
            return CannotBeProcessed(INVALID_ANSWER)
        return CannotBeProcessed(_explain(report.signal))
    match answer:
        case RenderingDone():
            return answer
        case RenderingRefused():
            return Invalid(answer.reason[:LONGEST_REASON])
        case Failed():
            return CannotBeProcessed(answer.reason[:LONGEST_REASON])


def _explain(ended_by: int | None) -> str:
    if ended_by == Signals.SIGXCPU:
        return "The child exceeded its CPU time."
    if ended_by is None:
        return "The child ended without an answer."
    try:
        return f"The child was ended by {Signals(ended_by).name}."
    except ValueError:
        return f"The child was ended by signal {ended_by}."


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _format_area(area: PrintArea) -> tuple[str, str]:
    return str(area.width), str(area.height)
