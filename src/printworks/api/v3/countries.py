"""Countries through 3.0."""

from printworks.api.endpoints import Call
from printworks.catalogue.countries import COUNTRIES
from printworks.wire.v3.countries import CountryOut
from printworks.wire.v3.envelope import Envelope


def list_countries(_call: Call) -> Envelope[list[CountryOut]]:
    """List countries."""
    return Envelope([CountryOut.of(country) for country in COUNTRIES.values()])
