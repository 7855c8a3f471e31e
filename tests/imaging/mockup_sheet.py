"""Draws `docs/mockups.png`: one picture with one crop, as proof, print file and mockup.

Run it with `python -m tests.imaging.mockup_sheet`. Everything on it is rendered by the image
processor, from the products of the catalogue that is built in.
"""

import sys
import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyvips

from printworks.catalogue.opening import open_catalogue
from printworks.imaging.manifest import plan_print
from printworks.imaging.processor import (
    DrawnMockup,
    ImageProcessor,
    PreparedImage,
    Rendered,
)
from printworks.rules.sizing import CropPosition, Layout, Sizing
from tests.imaging.sheets import Sheet

SHEET: Final = Path(__file__).parents[2] / "docs" / "mockups.png"
PICTURE: Final = resources.files("printworks.dashboard") / "static" / "sample.jpg"
# The lower half of the picture, a little closer than it has to be.
CROP: Final = CropPosition(0.5, 0.9, 1.2)
LABELS: Final = ("Proof", "Print file", "Mockup")
PRODUCTS: Final[Mapping[str, Mapping[str, str]]] = {
    "FRA-CLA-12X16-8X12": {"frameColour": "white"},
    "EU-CAN-8X8": {"wrap": "ImageWrap"},
    "MUG-10OZ-WHITE": {},
    "WEAR-TEE-SOFT": {"size": "M", "colour": "navy"},
    "GLOBAL-POS-10X15": {"finish": "lustre"},
}


class Views(NamedTuple):
    """One crop in three ways, in memory."""

    proof: Any
    print_file: Any
    mockup: Any


def draw_views(processor: ImageProcessor, product: Any, chosen: Mapping[str, str]) -> Views:
    """Have the picture proofed, printed and drawn on a product."""
    with tempfile.TemporaryDirectory() as name, resources.as_file(PICTURE) as source:
        out = Path(name)
        prepared = processor.prepare(source, Layout(product.print_area, Sizing.CROP, CROP), out)
        assert isinstance(prepared, PreparedImage), prepared
        rendered = processor.render(source, plan_print(prepared.placement), out)
        assert isinstance(rendered, Rendered), rendered
        plan = product.plan_mockup(chosen, is_turned=prepared.placement.is_turned)
        drawn = processor.draw_mockup(prepared.proofs.preview, plan, out)
        assert isinstance(drawn, DrawnMockup), drawn
        return Views(*map(_read, (prepared.proofs.preview, rendered.file, drawn.file)))


def _read(file: Path) -> Any:
    return pyvips.Image.thumbnail(str(file), 600, height=600).copy_memory()


def main(target: Path) -> None:
    """Draw the sheet."""
    catalogue = open_catalogue(None)
    sheet = Sheet(len(PRODUCTS) + 1, len(Views._fields))
    sheet.name_row(0, ["The picture as it came"])
    with resources.as_file(PICTURE) as source:
        sheet.put(_read(source), 0, 0, "2:3, of which the lower part is chosen")
    with ImageProcessor(slots=1) as processor:
        for row, (sku, chosen) in enumerate(PRODUCTS.items(), start=1):
            product = catalogue.find_product(sku)
            assert product is not None
            sheet.name_row(row, [product.kind.capitalize(), sku])
            views = draw_views(processor, product, chosen)
            for column, (label, view) in enumerate(zip(LABELS, views, strict=True)):
                sheet.put(view, row, column, label)
    sheet.draw().pngsave(str(target), palette=True, Q=90, effort=7, keep="none")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHEET)
