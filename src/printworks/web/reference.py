"""The API reference: the documents of the versions, and the pages that are made of them."""

from collections.abc import Sequence
from functools import partial

from starlette.routing import BaseRoute

from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import describe
from printworks.api.reference import document_routes
from printworks.dashboard.reference.pages import ReferencedVersion, reference_routes
from printworks.settings import Settings


def all_reference_routes(families: Sequence[ApiFamily], settings: Settings) -> list[BaseRoute]:
    """Return the document and the pages of each version that is on."""
    versions = [
        ReferencedVersion(
            family.version,
            family.prefix,
            family.successor is not None,
            partial(describe, family, header_prefix=settings.header_prefix),
        )
        for family in families
        if not family.is_off
    ]
    return [*document_routes(families, settings), *reference_routes(versions, settings.public_url)]
