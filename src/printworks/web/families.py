"""Every version of the API that is served."""

from typing import Final

from printworks.api.v2.endpoints import FAMILIES as V2
from printworks.api.v3.endpoints import V3_0

# Side by side, the current one first.
FAMILIES: Final = (V3_0, *V2)
