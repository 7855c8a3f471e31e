"""What stands in the fields of a form when its page is shown."""

from collections.abc import Collection, Mapping

from printworks.dashboard.site.visits import Visit


class FormValues:
    """What must be there, else what was sent, else what the address says, else what is usual."""

    def __init__(
        self,
        visit: Visit,
        usual: Mapping[str, str],
        from_address: Collection[str] = (),
        beginning_with: str = "",
        instead: Mapping[str, str] | None = None,
    ) -> None:
        self._visit = visit
        self._usual = usual
        self._from_address = from_address
        self._beginning_with = beginning_with
        self._instead = instead or {}

    def __getitem__(self, name: str) -> str:
        if name in self._instead:
            return self._instead[name]
        if name in self._visit.sent.fields:
            return self._visit.sent.text(name)
        if name in self._visit.query and self._may_come_from_address(name):
            return self._visit.query[name]
        return self._usual.get(name, "")

    def _may_come_from_address(self, name: str) -> bool:
        is_of_kind = self._beginning_with != "" and name.startswith(self._beginning_with)
        return is_of_kind or name in self._from_address
