"""The services of the pages."""

from dataclasses import dataclass

from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.dashboard.auth.hashing import HashingProcess
from printworks.dashboard.auth.passwords import Passwords
from printworks.dashboard.site.forms import FormKey
from printworks.store.accounts.secrets import get_link_key
from printworks.wire.links import Links, find_end


@dataclass(frozen=True)
class PageServices(Services):
    """The services of the process, with connections, form tokens and passwords of the pages' own."""

    @property
    def passwords(self) -> Passwords:
        """What hashes and compares passwords."""
        return self._once("passwords", self._open_passwords)

    def _open_passwords(self) -> Passwords:
        # Of all processes on this machine together.
        lock = self.settings.data / "hashing.lock"
        return Passwords(HashingProcess(lock, slots=self.settings.hashing_slots))

    @property
    def forms(self) -> FormKey:
        """What makes and checks form tokens."""
        return self._once("forms", lambda: FormKey(lambda: self.database, self.vault))

    def links(self, db: Connection) -> Links:
        """Return what makes addresses of pictures, from wherever a page was asked for."""
        end = find_end(self.clock(), self.settings.proof_links_valid_for)
        return Links("", get_link_key(db, self.vault), end)
