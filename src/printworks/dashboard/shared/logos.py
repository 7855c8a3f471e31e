"""Where logos are shown."""

from printworks.store.accounts.shops import Logo


def address_of_logo(logo: Logo) -> str:
    """Return where a logo is shown: another logo has another address."""
    return f"/logos/{logo.token}.jpg"
