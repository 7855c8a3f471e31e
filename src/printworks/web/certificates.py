"""Presents a new certificate without a restart: whoever is connected goes on as before."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from printworks.clock import Clock, system_clock
from printworks.settings import Settings
from printworks.web.tls import TlsFiles, TlsUnusable, make_context, prepare_tls

log = structlog.get_logger(__name__)

SECONDS_BETWEEN_LOOKS: Final = 2.0
# How often the certificate of the local CA is looked at; it is renewed a month before its end.
SECONDS_BETWEEN_RENEWALS: Final = 6 * 3600.0

# When each file was changed, and which one it is: links are followed, as those that tools for
# certificates leave behind.
_Seen = tuple[tuple[int, int, int] | None, ...]


class CertificateWatch:
    """Notices that the files of a certificate have changed.

    A certificate and its key are two files, and one is written first: until both belong together
    the old pair is used. So it is with files that are gone or broken.
    """

    def __init__(self, settings: Settings, files: TlsFiles, clock: Clock = system_clock) -> None:
        self._settings = settings
        self._files = files
        self._clock = clock
        self._seen = self._look()

    async def keep_watching(self, use: Callable[[ssl.SSLContext], None]) -> None:
        """Pass on every new certificate, until cancelled."""
        loop = asyncio.get_running_loop()
        renewed_at = loop.time()
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if loop.time() - renewed_at >= SECONDS_BETWEEN_RENEWALS:
                renewed_at = loop.time()
                await asyncio.to_thread(self.renew)
            context = await asyncio.to_thread(self.find_new)
            if context is not None:
                use(context)

    def find_new(self) -> ssl.SSLContext | None:
        """Return a context with the new certificate if there is one and it can be used."""
        seen = self._look()
        if seen == self._seen:
            return None
        self._seen = seen
        try:
            context = make_context(self._files)
        except OSError as error:
            log.error("new certificate not usable", cert=str(self._files.cert), error=str(error))
            return None
        log.info("new certificate in use", cert=str(self._files.cert))
        return context

    def renew(self) -> None:
        """Renew the certificate of the local CA if it is time; one of the settings is left alone."""
        if self._settings.tls_cert is not None:
            return
        try:
            prepare_tls(self._settings, now=self._clock())
        except (TlsUnusable, OSError) as error:
            log.error("certificate not renewed", error=str(error))

    def _look(self) -> _Seen:
        return tuple(_describe(file) for file in self._files)


def _describe(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
