"""`printworks brand` shows and changes what the operator calls the service."""

from pathlib import Path

import pytest

from tests.api.pngs import a_png
from tests.cli.operators import Operator


@pytest.mark.both_databases
def test_a_brand_is_shown_and_set(keeper: Operator, tmp_path: Path) -> None:
    imprint, terms, logo = (tmp_path / name for name in ("imprint.txt", "terms.txt", "logo.png"))
    imprint.write_text("Fox Prints\n1 High Street")
    terms.write_text("Be kind.")
    logo.write_bytes(a_png(60, 40))
    before = keeper.asks("brand", "show").said

    changed = keeper.reads(
        *("brand", "set", "--name", "Fox Prints", "--accent", "#7a1f5c", "--show-labs"),
        *("--sender-name", "Fox", "--sender-email", "hello@fox.example"),
        *("--reply-to", "help@fox.example", "--imprint", str(imprint), "--terms", str(terms)),
        *("--logo", str(logo)),
    )

    assert "name           Printworks\n" in before
    assert changed == {
        "name": "Fox Prints",
        "accent": "#7a1f5c",
        "hasLogo": True,
        "senderName": "Fox",
        "senderEmail": "hello@fox.example",
        "replyTo": "help@fox.example",
        "imprint": "Fox Prints\n1 High Street",
        "terms": "Be kind.",
        "showLabs": True,
    }
    shown = keeper.asks("brand", "show").said
    assert "imprint        2 lines\n" in shown
    assert "labs           shown to merchants" in shown
    removed = keeper.reads("brand", "set", "--no-logo", "--hide-labs")
    assert (removed["hasLogo"], removed["showLabs"]) == (False, False)


def test_what_is_wrong_changes_nothing(keeper: Operator, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")

    pale = keeper.asks("brand", "set", "--name", "Fox", "--accent", "#ffcc00")

    assert pale.code == 1
    assert "its contrast is 1.2 to 1" in pale.said + pale.complained
    assert keeper.asks("brand", "set", "--imprint", missing).code == 1
    assert keeper.asks("brand", "set", "--logo", missing).code == 1
    assert keeper.asks("brand", "set", "--logo", missing, "--no-logo").code == 1
    assert keeper.reads("brand", "show")["name"] == "Printworks"
