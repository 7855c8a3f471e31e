"""What one merchant may have: images of an order, and bytes of files."""

from typing import Final, NamedTuple

from printworks.errors import QuotaReached

_GIGABYTE: Final = 1_000_000_000


class Quotas(NamedTuple):
    """The limits of every merchant, as the operator has set them."""

    order_images: int = 1000
    merchant_files: int = 100 * _GIGABYTE


def check_files(stored: int, quotas: Quotas) -> None:
    """Refuse another file for a merchant whose files take as much as they may."""
    if stored >= quotas.merchant_files:
        raise QuotaReached(
            f"The files of this account take {stored / _GIGABYTE:,.1f} GB and may take "
            f"{quotas.merchant_files / _GIGABYTE:,.1f} GB. Cancel orders that are not needed and wait "
            "until old files are deleted, or ask the operator for more room."
        )
