"""What a catalogue begins with that is made from nothing."""

from collections.abc import Sequence

from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.drafts.writing import write_head
from printworks.catalogue.products import Currency
from printworks.catalogue.values import EVERYWHERE
from printworks.rules.mockups import USUAL_MOCKUPS

_BANDS = ["Letters", "Parcels"]
# As the built-in catalogue promises.
_PROMISE = {"to": [EVERYWHERE], "Budget": 20, "Standard": 15, "Express": 9, "Overnight": 7}


def begin_catalogue(currencies: Sequence[Currency]) -> dict[str, str]:
    """Return the files of a catalogue that sells nothing yet: names, and a promise everywhere."""
    names = {
        "currencies": [str(one) for one in currencies],
        "kinds": list(USUAL_MOCKUPS),
        "bands": _BANDS,
    }
    draft = Draft({"catalogue.toml": write_head(names)})
    draft.add_block("promises", _PROMISE)
    return draft.texts
