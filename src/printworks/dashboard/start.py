"""The page at the root: where a newcomer's browser lands."""

from collections.abc import Sequence
from html import escape
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Route

from printworks import __version__
from printworks.settings import Settings

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Printworks ({environment})</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; --ink: #1d2433; --soft: #5b6475; --line: #d8dce4; --blue: #1f5fbf; --paper: #fff; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e8ebf2; --soft: #a3abbb; --line: #343b4a; --blue: #8ab4ff; --paper: #12161f; }}
}}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, sans-serif; }}
main {{ max-width: 40rem; margin: 12vh auto; padding: 0 1.5rem; }}
h1 {{ font-size: 2.2rem; letter-spacing: -.02em; margin: 0; }}
h1 small {{ font-size: .9rem; font-weight: 500; letter-spacing: 0; color: var(--soft); border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .7rem; margin-left: .6rem; vertical-align: middle; }}
p {{ color: var(--soft); }}
dl {{ border-top: 1px solid var(--line); margin: 2rem 0; }}
dl div {{ display: flex; gap: 1rem; padding: .8rem 0; border-bottom: 1px solid var(--line); }}
dt {{ flex: 0 0 9rem; color: var(--soft); }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
a {{ color: var(--blue); }}
</style>
</head>
<body>
<main>
<h1>Printworks <small>{environment}</small></h1>
<p>{greeting}</p>
<dl>
<div><dt>API</dt><dd><code>{public_url}/v3.0</code></dd></div>
<div><dt>Reference</dt><dd><a href="/v3.0/docs">Every operation, to read and to try</a></dd></div>
<div><dt>OpenAPI 3.1</dt><dd><a href="/v3.0/openapi.json">openapi.json</a></dd></div>
<div><dt>Credentials</dt><dd>Sent as <code>{prefix}MerchantId</code> and <code>{prefix}REST-API-Key</code>; <code>printworks merchant add NAME</code> makes new ones.</dd></div>
<div><dt>Version</dt><dd>{version}</dd></div>
</dl>
</main>
</body>
</html>
"""

_GREETINGS: Final = {
    "sandbox": "The service is running. This is the sandbox: nothing is printed and nothing is charged.",
    "live": "The service is running. Orders that are submitted here are printed and charged.",
}


def start_routes(settings: Settings) -> Sequence[BaseRoute]:
    """Return the page for the root."""
    page = _PAGE.format(
        environment=escape(settings.environment),
        greeting=_GREETINGS[settings.environment],
        public_url=escape(settings.public_url),
        prefix=escape(settings.header_prefix),
        version=escape(__version__),
    )

    async def show_start(_request: Request) -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    return [Route("/", show_start)]
