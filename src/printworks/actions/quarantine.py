"""Beginning and ending a quarantine: until its end, nothing leaves the service."""

from printworks.actions.work import SystemWork
from printworks.errors import WrongState
from printworks.rules.quarantine import Quarantine, QuarantineCause
from printworks.store.queue.quarantine import drop_quarantine, find_quarantine, set_quarantine


def begin_quarantine(system: SystemWork, cause: QuarantineCause) -> Quarantine:
    """Let nothing leave the service from now on; raise `WrongState` if nothing does already."""
    if find_quarantine(system.db) is not None:
        raise WrongState("The service is in quarantine already.")
    quarantine = Quarantine(cause, system.real_now, known_until=system.real_now)
    set_quarantine(system.db, quarantine)
    system.audit("begin-quarantine", "service", cause=cause)
    return quarantine


def end_quarantine(system: SystemWork) -> Quarantine:
    """Let everything go out that has waited; raise `WrongState` if nothing has."""
    quarantine = find_quarantine(system.db)
    if quarantine is None:
        raise WrongState("The service is not in quarantine.")
    drop_quarantine(system.db)
    system.audit("end-quarantine", "service", cause=quarantine.cause)
    return quarantine
