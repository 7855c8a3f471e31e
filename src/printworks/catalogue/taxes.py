"""The rates of tax: those that come with the program, and those of a catalogue instead of them."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from printworks.catalogue.form_reading import FormReader, ValueType
from printworks.catalogue.forms import CatalogueForm, TaxesForm
from printworks.catalogue.sources import CatalogueFiles
from printworks.rules.tax_table import DatedRate, TaxTable

_FILE = "taxes.toml"


def build_taxes(forms: Sequence[TaxesForm]) -> TaxTable:
    """Return the rates that come with the program, with those of a catalogue in their place."""
    return load_taxes().replaced_by(_build(forms))


@cache
def load_taxes() -> TaxTable:
    """Return the rates that come with the program."""
    files = CatalogueFiles({_FILE: read_builtin()})
    reader = FormReader({}, files.report)
    listed = ValueType.of(CatalogueForm.__annotations__["taxes"])
    forms = reader.read(listed, files.content["taxes"], ("taxes",))
    files.check()
    return _build(forms)


def read_builtin() -> str:
    """Return the file that comes with the program."""
    folder = resources.files("printworks.catalogue").joinpath("data")
    return folder.joinpath(_FILE).read_text(encoding="utf-8")


def _build(forms: Iterable[TaxesForm]) -> TaxTable:
    return TaxTable.of(
        (form.country, line.tax_class, DatedRate(line.since, line.rate))
        for form in forms
        for line in form.rates
    )
