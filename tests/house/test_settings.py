"""The reference of the settings says what the program does."""

from pathlib import Path

from printworks.cli.reference import write_settings_page
from printworks.settings import SETTINGS

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "settings.md"


def test_the_settings_page_is_the_one_that_make_docs_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_settings_page()


def test_every_setting_says_in_a_sentence_what_it_does() -> None:
    assert all(setting.description.endswith(".") for setting in SETTINGS.values())
