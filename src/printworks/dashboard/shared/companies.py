"""Companies as they are typed into forms."""

from printworks.dashboard.site.forms import Sent
from printworks.rules.businesses import Business


def read_company(sent: Sent) -> Business:
    """Return the company of a form."""
    return Business(**{name: sent.text(name) for name in Business.__struct_fields__})
