"""`printworks image`: what the service would make of a picture, without a service."""

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.cli.options import Data, Json, load_settings, make_console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from printworks.actions.images.preflight import Passed, PreflightRefused
    from printworks.catalogue.products import Product
    from printworks.rules.sizing import Sizing
    from printworks.settings import Settings

app = typer.Typer(help="Pictures: see how one would be printed.", no_args_is_help=True)


@app.command()
def check(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="The pictures.")],
    *,
    sku: Annotated[str, typer.Option(help="The product, in capitals or not.")],
    sizing: Annotated[
        str,
        typer.Option(
            metavar="Crop|ShrinkToFit|ShrinkToExactFit",
            help="What to do when picture and print differ in shape.",
        ),
    ] = "Crop",
    picture: Annotated[
        Path | None,
        typer.Option(metavar="OUT.jpg", help="Write what would be printed here, for screens."),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Judge pictures for a product as the service would; no service needs to run.

    The exit code is 0 if all can be printed, 1 if one cannot, and 2 if the question is wrong.
    """
    _check_paths(files, picture)
    rule = _read_sizing(sizing)
    settings, product = _find_product(context, data, sku)
    screen = _Screen(product, rule, files, picture, is_json=json)
    for file, verdict in _judge_all(files, product, rule, settings):
        screen.show(file, verdict)
    screen.finish()
    if screen.refused:
        raise typer.Exit(1)


def _judge_all(
    files: list[Path], product: "Product", sizing: "Sizing", settings: "Settings"
) -> "Iterator[tuple[Path, Passed | PreflightRefused]]":
    """Yield a verdict on each file; what was drawn is gone when the next one is asked for."""
    import tempfile

    from printworks import log
    from printworks.actions.images.preflight import PreflightRefused, check_picture
    from printworks.imaging.processor import ImageProcessor

    # To standard error: what is said of the jail must not end up among the answers.
    log.configure(settings)
    limit = settings.image_limit
    with ImageProcessor(slots=1) as processor:
        for file in files:
            size = file.stat().st_size
            if size > limit:
                reason = f"The file has {size} bytes; at most {limit} are taken (`image_limit`)."
                yield file, PreflightRefused(reason)
                continue
            with tempfile.TemporaryDirectory(prefix="printworks-") as name:
                folder = Path(name)
                # By another name: a file's own may be no text at all.
                source = folder / "picture"
                source.symlink_to(file.absolute())
                yield file, check_picture(processor, source, product, sizing, folder)


class _Screen:
    """Shows verdicts one after the other, and counts them."""

    def __init__(
        self,
        product: "Product",
        sizing: "Sizing",
        files: list[Path],
        picture: Path | None,
        *,
        is_json: bool,
    ) -> None:
        self.refused = 0
        self._warned = 0
        self._product = product
        self._sizing = sizing
        self._files = files
        self._picture = picture
        self._is_json = is_json
        self._name_width = max(len(_clean(str(file))) for file in files)

    def show(self, file: Path, verdict: "Passed | PreflightRefused") -> None:
        from printworks.actions.images.preflight import PreflightRefused

        if isinstance(verdict, PreflightRefused):
            self.refused += 1
        else:
            self._warned += bool(verdict.warnings)
            if self._picture is not None:
                _write_picture(self._picture, verdict.preview)
        if self._is_json:
            # A name that is no text is still shown, if not quite as it is.
            name = os.fsencode(file).decode(errors="replace")
            print_json({"file": name, **_describe(verdict, self._product, self._sizing)})
        elif len(self._files) > 1:
            name = _clean(str(file)).ljust(self._name_width)
            make_console().print(f"{name}  {_write_line(verdict)}")
        else:
            self._show_everything(_clean(str(file)), verdict)

    def _show_everything(self, name: str, verdict: "Passed | PreflightRefused") -> None:
        from printworks.actions.images.preflight import PreflightRefused
        from printworks.cli.image_words import draw, explain, list_facts

        console = make_console()
        if isinstance(verdict, PreflightRefused):
            console.print(f"{name} cannot be printed.", style="bold")
            console.print(_clean(verdict.reason))
            if self._picture is not None:
                console.print("No picture was written.")
            return
        number = len(verdict.warnings)
        doubt = "" if number == 0 else f", with {number} warning{'s' if number > 1 else ''}"
        console.print(f"{name} can be printed{doubt}.", style="bold")
        console.print()
        for label, value in list_facts(self._product, verdict):
            console.print(f"  {label:<12} {value}")
        for warning in verdict.warnings:
            console.print()
            console.print(f"  {warning}", style="bold")
            console.print(f"  {explain(warning, self._product, verdict.placement)}")
        console.print()
        for line in draw(verdict.placement):
            console.print(f"  {line}")
        if self._picture is not None:
            console.print()
            console.print(f"As it would be printed: {_clean(str(self._picture))}")

    def finish(self) -> None:
        """Sum up, if there is more than one to sum up."""
        number = len(self._files)
        if self._is_json or number == 1:
            return
        make_console().print(
            f"{number} files for {self._product.sku}: {number - self.refused} can be printed, "
            f"{self._warned} of them with warnings; {self.refused} cannot.",
            style="bold",
        )


def _check_paths(files: list[Path], picture: Path | None) -> None:
    """Stop before anything is done if a path is of no use."""
    troubles = [(file, _find_trouble(file)) for file in files]
    wrong = [f"{_clean(str(file))}: {trouble}." for file, trouble in troubles if trouble]
    if wrong:
        raise _wrong_use(*wrong)
    if picture is None:
        return
    if len(files) > 1:
        raise _wrong_use("--picture is for one file; check the others without it, or one by one.")
    if picture.is_dir():
        raise _wrong_use(f"--picture must name a file, and {_clean(str(picture))} is a folder.")
    if not picture.parent.is_dir():
        raise _wrong_use(f"--picture: there is no folder {_clean(str(picture.parent))}.")
    if picture.exists() and picture.samefile(files[0]):
        raise _wrong_use("--picture would overwrite the picture itself; choose another name.")


def _find_trouble(file: Path) -> str | None:
    try:
        mode = file.stat().st_mode
    except OSError as error:
        return error.strerror
    if stat.S_ISDIR(mode):
        return "Is a directory"
    # Not opened to find out: a pipe would wait for somebody to write.
    if not stat.S_ISREG(mode):
        return "Not a regular file"
    return None if os.access(file, os.R_OK) else "Permission denied"


def _read_sizing(name: str) -> "Sizing":
    from printworks.rules.sizing import Sizing

    for sizing in Sizing:
        if sizing.casefold() == name.casefold():
            return sizing
    raise _wrong_use(f"There is no sizing {_clean(name)!r}; there are {', '.join(Sizing)}.")


def _find_product(
    context: typer.Context, data: Path | None, sku: str
) -> "tuple[Settings, Product]":
    from difflib import get_close_matches

    from printworks.catalogue.opening import open_catalogue
    from printworks.catalogue.problems import BadCatalogue
    from printworks.errors import BadInput
    from printworks.settings import BadSetting

    try:
        settings = load_settings(context, data)
        catalogue = open_catalogue(settings.catalogue)
        return settings, catalogue.get_product(sku)
    except (BadSetting, BadCatalogue) as error:
        # Not 1, as elsewhere: that would be a verdict on the picture.
        raise _wrong_use(str(error)) from error
    except BadInput as error:
        close = get_close_matches(sku.upper(), [one.sku for one in catalogue.products], n=3)
        meant = f"; did you mean {' or '.join(close)}?" if close else "."
        raise _wrong_use(f"{error.message}: {_clean(sku)}{meant}") from error


def _write_picture(picture: Path, preview: Path) -> None:
    try:
        picture.write_bytes(preview.read_bytes())
    except OSError as error:
        raise _wrong_use(f"{_clean(str(picture))}: {error.strerror}.") from error


def _wrong_use(*sentences: str) -> typer.Exit:
    """Say what is wrong with the question, and return the way out."""
    for sentence in sentences:
        sys.stderr.write(f"printworks: {sentence}\n")
    return typer.Exit(2)


def _describe(
    verdict: "Passed | PreflightRefused", product: "Product", sizing: "Sizing"
) -> dict[str, Any]:
    """Return the members of the answer that the API would give."""
    import msgspec

    from printworks.actions.images.preflight import PreflightRefused
    from printworks.wire.v3.preflight import ImageCheckOut

    if isinstance(verdict, PreflightRefused):
        shown = ImageCheckOut.refused(product, sizing, verdict.reason)
    else:
        shown = ImageCheckOut.passed(
            product,
            verdict.facts.format,
            verdict.placement,
            verdict.warnings,
            verdict.preview.read_bytes(),
        )
    members: dict[str, Any] = msgspec.to_builtins(shown)
    return members


def _write_line(verdict: "Passed | PreflightRefused") -> str:
    from printworks.actions.images.preflight import PreflightRefused
    from printworks.cli.image_words import write_number

    if isinstance(verdict, PreflightRefused):
        return f"Invalid  {_clean(verdict.reason)}"
    placement = verdict.placement
    facts = [
        f"Ok       {placement.picture!s:<11}",
        f"{write_number(placement.effective_dpi):>6} dpi",
        f"{write_number(placement.percent_lost):>5} % cut off",
        f"{'turned' if placement.is_turned else '':<6}",
        ", ".join(verdict.warnings),
    ]
    return "  ".join(facts).rstrip()


def _clean(text: str) -> str:
    """Keep a name that a stranger chose from steering the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
