"""Writes `docs/operate/settings.md` from the settings themselves: `make docs`."""

import sys
from datetime import timedelta
from typing import Final

from printworks.settings import SETTINGS, Setting, describe_allowed, format_duration

_ABOUT: Final = """\
# Settings

Every setting has a default that works on a laptop. To change one, set `PRINTWORKS_<NAME>` in
the environment (`PRINTWORKS_PORT=9443`) or write it into `printworks.toml` in the data folder
(`port = 9443`); the environment wins, and an empty variable counts as not set. A wrong value
or an unknown name stops the start with a sentence that says what is allowed.

The data folder itself is `--data DIR`, else `PRINTWORKS_DATA`, else `./data`. Relative paths
start there. A secret can be kept in a file: `PRINTWORKS_DATABASE_URL_FILE=/run/secrets/database`.

`make docs` writes this page from `setting_places.py` and `setting_table.py` in `src/printworks`.
"""


def write_settings_page() -> str:
    """Return the page that lists every setting."""
    lines = [_ABOUT, "| setting | default | allowed | what it does |", "|---|---|---|---|"]
    lines += [_write_line(setting) for setting in SETTINGS.values() if setting.name != "data"]
    return "\n".join(lines) + "\n"


def _write_line(setting: Setting) -> str:
    shown = _show(setting.default)
    cells = (
        f"`{setting.name}`",
        f"`{shown}`" if shown else "",
        describe_allowed(setting),
        setting.description,
    )
    return f"| {' | '.join(cells)} |"


def _show(default: object) -> object:
    if isinstance(default, bool):
        return str(default).lower()
    return format_duration(default) if isinstance(default, timedelta) else default


if __name__ == "__main__":
    sys.stdout.write(write_settings_page())
