"""What `printworks serve` shows once the service answers."""

import shlex
import sys

from rich.text import Text

from printworks import __version__
from printworks.cli.demo import DemoCredentials
from printworks.cli.output import make_console
from printworks.settings import Settings
from printworks.web.tls import ca_file


def welcome(settings: Settings, demo: DemoCredentials | None, invitation: str | None) -> None:
    """Show the addresses, the demo merchant and a first command to try.

    The invitation is the first operator's; None if there are operators.
    """
    console = make_console()
    console.print()
    console.print(f"Printworks {__version__} is running ({settings.environment}).", style="bold")
    console.print()
    for label, value, remark in _facts(settings, demo, invitation):
        line = Text.assemble((f"  {label:<13}", "dim"), (value, "cyan"), (remark, "dim"))
        console.print(line)
    console.print()
    if demo is None:
        console.print("Invite a merchant:    printworks merchant invite EMAIL")
        console.print("Add a merchant:       printworks merchant add NAME")
        console.print("Invite an operator:   printworks operator invite EMAIL --role admin")
    else:
        console.print("Try it:")
        console.print()
        # As it is, without a style or a line break: it will be copied.
        sys.stdout.write(f"{write_curl(settings, demo)}\n")
    console.print()
    console.print("Ctrl-C stops it.", style="dim")
    console.print()
    sys.stdout.flush()


def _facts(
    settings: Settings, demo: DemoCredentials | None, invitation: str | None
) -> list[tuple[str, str, str]]:
    """Return a label, a value and a remark for each line."""
    facts = [
        ("Dashboard", f"{settings.public_url}/", ""),
        ("Console", f"{settings.public_url}/console", "")
        if invitation is None
        else ("Console", f"{settings.public_url}/invitations/{invitation}", "  (first operator)"),
        ("API", f"{settings.public_url}/v3.0", ""),
        ("Reference", f"{settings.public_url}/v3.0/docs", ""),
    ]
    if demo is not None:
        facts += [("Merchant ID", demo.merchant_id, ""), ("API key", demo.api_key, "")]
    if _has_local_ca(settings):
        facts.append(("CA file", str(ca_file(settings.data)), ""))
    if settings.behind_proxy:
        facts.append(("Listening on", settings.behind_proxy, ""))
    return facts


def write_curl(settings: Settings, demo: DemoCredentials) -> str:
    """Return a command line that lists the demo merchant's orders."""
    trust = ["--cacert", str(ca_file(settings.data))] if _has_local_ca(settings) else []
    prefix = settings.header_prefix
    who = ["-H", f"{prefix}MerchantId: {demo.merchant_id}"]
    key = ["-H", f"{prefix}REST-API-Key: {demo.api_key}"]
    return shlex.join(["curl", *trust, *who, *key, f"{settings.public_url}/v3.0/orders"])


def _has_local_ca(settings: Settings) -> bool:
    return not settings.behind_proxy and settings.tls_cert is None
