"""Answers that were looked at once and must stay as they are, to the member.

To write them anew after a change that is meant: `PRINTWORKS_GOLDEN=write`, and look at the diff.
"""

import json
import os
import re
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "golden"
# What is made at random.
_SECRETS: Final = (
    (re.compile(r"/proofs/(\d+)/[0-9a-f]+/"), r"/proofs/\1/SIGNATURE/"),
    (re.compile(r"/pay/[\w-]+"), "/pay/TOKEN"),
)


def check_golden(version: str, name: str, said: Any) -> None:
    """Fail unless this is what was said before."""
    shown = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    for pattern, replacement in _SECRETS:
        shown = pattern.sub(replacement, shown)
    path = FOLDER / f"{version}-{name}.json"
    if os.environ.get("PRINTWORKS_GOLDEN") == "write":
        path.write_text(shown, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == shown
