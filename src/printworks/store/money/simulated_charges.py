"""The memory of the sandbox's simulated bank, shared by all processes."""

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from printworks.store.engine.database import Database
from printworks.store.tables import simulated_charges


class BankMemory:
    """A table of texts by key; each call is a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> str | None:
        """Return the text with this key, or None."""
        query = select(simulated_charges.c.state).where(simulated_charges.c.key == key)
        with self._database.reading() as db:
            return db.execute(query).scalar()

    def put(self, key: str, value: str, *, instead_of: str | None) -> bool:
        """Set a text if the present one is still `instead_of`; say whether that was so."""
        if instead_of is None:
            return self._add(key, value)
        statement = (
            update(simulated_charges)
            .where(simulated_charges.c.key == key, simulated_charges.c.state == instead_of)
            .values(state=value)
        )
        with self._database.writing() as db:
            return db.execute(statement).rowcount == 1

    def _add(self, key: str, value: str) -> bool:
        try:
            with self._database.writing() as db:
                db.execute(insert(simulated_charges).values(key=key, state=value))
        except IntegrityError:
            return False
        return True
