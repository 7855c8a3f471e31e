"""`printworks image`: how the service would print an image; no service needs to run."""

import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
import typer

from printworks import log
from printworks.actions.images.preflight import Passed, PreflightRefused, check_picture
from printworks.api.v3.preflight import show_result
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.products import Product
from printworks.cli.catalogue import suggest
from printworks.cli.image_words import explain, list_facts, sketch, write_number
from printworks.cli.output import make_console, note, print_json
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput
from printworks.imaging.processor import ImageProcessor
from printworks.rules.sizing import Sizing
from printworks.settings import BadSetting, Settings

app = typer.Typer(no_args_is_help=True)

Result: TypeAlias = Passed | PreflightRefused


class _Question(NamedTuple):
    """Which files are to be printed as which product, and where to write the result."""

    files: Sequence[Path]
    product: Product
    sizing: Sizing
    picture: Path | None


@command(app, "check")
def check(
    session: CommandSession,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="The images.")],
    *,
    sku: Annotated[str, typer.Option(help="The product, in capitals or not.")],
    sizing: Annotated[
        str,
        typer.Option(
            metavar="Crop|ShrinkToFit|ShrinkToExactFit",
            help="What to do when image and print differ in shape.",
        ),
    ] = "Crop",
    picture: Annotated[
        Path | None,
        typer.Option(metavar="OUT.jpg", help="Write what would be printed here, for screens."),
    ] = None,
) -> None:
    """Validate images for a product as the service would; no service needs to run.

    The exit code is 0 if all can be printed, 1 if one cannot, and 2 if the command is wrong.
    """
    _check_paths(files, picture)
    rule = _read_sizing(sizing)
    question = _Question(files, _find_product(session, sku), rule, picture)
    report = _ResultReport(question, is_json=session.is_json)
    for file, result in _validate_all(question, session.settings):
        report.show(file, result)
    report.finish()
    if report.refused:
        raise typer.Exit(1)


def _validate_all(question: _Question, settings: Settings) -> Iterator[tuple[Path, Result]]:
    """Yield each file with its result; what was rendered is gone when the next one is wanted."""
    # To standard error: what is logged about the sandbox must not end up among the results.
    log.configure(settings)
    limit = settings.image_limit
    with ImageProcessor(slots=1) as processor:
        for file in question.files:
            size = file.stat().st_size
            if size > limit:
                reason = f"The file has {size} bytes; at most {limit} are taken (`image_limit`)."
                yield file, PreflightRefused(reason)
                continue
            with tempfile.TemporaryDirectory(prefix="printworks-") as name:
                # By another name: a file's own may not be valid text.
                source = Path(name) / "picture"
                source.symlink_to(file.absolute())
                yield file, check_picture(processor, source, question.product, question.sizing)


class _ResultReport:
    """Shows results one after the other, and counts them."""

    def __init__(self, question: _Question, *, is_json: bool) -> None:
        self.refused = 0
        self._warned = 0
        self._question = question
        self._is_json = is_json
        self._name_width = max(len(_clean(file)) for file in question.files)

    def show(self, file: Path, result: Result) -> None:
        """Show the result of one file, and write its picture if that is wanted."""
        picture = self._question.picture
        if isinstance(result, PreflightRefused):
            self.refused += 1
        else:
            self._warned += bool(result.warnings)
            if picture is not None:
                _write_picture(picture, result.preview)
        if self._is_json:
            # A name that is not valid text is still shown, if not quite as it is.
            name = os.fsencode(file).decode(errors="replace")
            shown = show_result(self._question.product, self._question.sizing, result)
            print_json({"file": name, **msgspec.to_builtins(shown)})
        elif len(self._question.files) > 1:
            name = _clean(file).ljust(self._name_width)
            make_console().print(f"{name}  {_write_line(result)}")
        elif isinstance(result, PreflightRefused):
            self._show_refusal(_clean(file), result)
        else:
            self._show_everything(_clean(file), result)

    def _show_refusal(self, name: str, refused: PreflightRefused) -> None:
        console = make_console()
        console.print(f"{name} cannot be printed.", style="bold")
        console.print(_clean(refused.reason))
        if self._question.picture is not None:
            console.print("No picture was written.")

    def _show_everything(self, name: str, passed: Passed) -> None:
        product, picture = self._question.product, self._question.picture
        console = make_console()
        number = len(passed.warnings)
        doubt = "" if number == 0 else f", with {number} warning{'s' if number > 1 else ''}"
        console.print(f"{name} can be printed{doubt}.\n", style="bold")
        for label, value in list_facts(product, passed):
            console.print(f"  {label:<12} {value}")
        for warning in passed.warnings:
            console.print(f"\n  {warning}", style="bold")
            console.print(f"  {explain(warning, product, passed.placement)}")
        console.print()
        for line in sketch(passed.placement):
            console.print(f"  {line}")
        if picture is not None:
            console.print(f"\nAs it would be printed: {_clean(picture)}")

    def finish(self) -> None:
        """Sum up, if there is more than one to sum up."""
        number = len(self._question.files)
        if self._is_json or number == 1:
            return
        make_console().print(
            f"{number} files for {self._question.product.sku}: "
            f"{number - self.refused} can be printed, "
            f"{self._warned} of them with warnings; {self.refused} cannot.",
            style="bold",
        )


def _check_paths(files: list[Path], picture: Path | None) -> None:
    """Stop before anything is done if a path cannot be used."""
    problems = [(file, _find_problem(file)) for file in files]
    wrong = [f"{_clean(file)}: {problem}." for file, problem in problems if problem]
    if wrong:
        raise _wrong_use(*wrong)
    if picture is None:
        return
    if len(files) > 1:
        raise _wrong_use("--picture is for one file; check the others without it, or one by one.")
    if picture.is_dir():
        raise _wrong_use(f"--picture must name a file, and {_clean(picture)} is a folder.")
    if not picture.parent.is_dir():
        raise _wrong_use(f"--picture: there is no folder {_clean(picture.parent)}.")
    if picture.exists() and picture.samefile(files[0]):
        raise _wrong_use("--picture would overwrite the picture itself; choose another name.")


def _find_problem(file: Path) -> str | None:
    try:
        mode = file.stat().st_mode
    except OSError as error:
        return error.strerror
    if stat.S_ISDIR(mode):
        return "Is a directory"
    # Not opened to find out: a pipe would wait for a writer.
    if not stat.S_ISREG(mode):
        return "Not a regular file"
    return None if os.access(file, os.R_OK) else "Permission denied"


def _read_sizing(name: str) -> Sizing:
    for sizing in Sizing:
        if sizing.casefold() == name.casefold():
            return sizing
    raise _wrong_use(f"There is no sizing {_clean(name)!r}; there are {', '.join(Sizing)}.")


def _find_product(session: CommandSession, sku: str) -> Product:
    try:
        catalogue = open_catalogue(session.settings.catalogue)
        return catalogue.get_product(sku)
    except (BadSetting, BadCatalogue) as error:
        # Not 1, as elsewhere: that would be a result of the images.
        raise _wrong_use(str(error)) from error
    except BadInput as error:
        meant = suggest(sku, catalogue)
        raise _wrong_use(f"{error.message}: {_clean(sku)}{meant}") from error


def _write_picture(picture: Path, preview: Path) -> None:
    try:
        picture.write_bytes(preview.read_bytes())
    except OSError as error:
        raise _wrong_use(f"{_clean(picture)}: {error.strerror}.") from error


def _wrong_use(*sentences: str) -> typer.Exit:
    """Say what is wrong with the command, and return the way out."""
    note(*(f"printworks: {sentence}" for sentence in sentences))
    return typer.Exit(2)


def _write_line(result: Result) -> str:
    if isinstance(result, PreflightRefused):
        return f"Invalid  {_clean(result.reason)}"
    placement = result.placement
    facts = [
        f"Ok       {placement.picture!s:<11}",
        f"{write_number(placement.effective_dpi):>6} dpi",
        f"{write_number(placement.percent_lost):>5} % cut off",
        f"{'turned' if placement.is_turned else '':<6}",
        ", ".join(result.warnings),
    ]
    return "  ".join(facts).rstrip()


def _clean(text: str | Path) -> str:
    """Keep a name that a stranger chose from steering the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))
