"""`printworks secrets`, and what commands and the doctor say about a key that is missing or wrong."""

import json
from pathlib import Path

import pytest

from printworks.actions.callbacks import set_callback
from printworks.store.engine.database import Database
from printworks.vault import Vault, create_key_file
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import a_work


def key_file(keeper: Operator) -> Path:
    """Return the file of keys of an operator's deployment."""
    return keeper.data / "secret.key"


def let_listen(keeper: Operator) -> None:
    """Give the merchant a secret."""
    with keeper.database.writing() as db:
        set_callback(a_work(db, keeper.merchant), "https://shop.example/")


def secret_of(keeper: Operator) -> str:
    """Return the merchant's secret as the operator reads it."""
    [secret] = keeper.reads("merchant", "callback", "secret", keeper.merchant.code)
    return str(secret["secret"])


class TestRotation:
    @pytest.mark.both_databases
    def test_every_secret_gets_a_new_key_and_stays_what_it_is(
        self, keeper: Operator, backend: str
    ) -> None:
        let_listen(keeper)
        before = secret_of(keeper)
        if backend == "postgresql":
            refused = keeper.asks("secrets", "rotate")
            assert refused.code == 1
            assert "run `printworks secrets prepare`, copy" in refused.complained
            prepared = keeper.reads("secrets", "prepare")["key"]
            # Not another one.
            assert keeper.reads("secrets", "prepare")["key"] == prepared

        done = keeper.reads("secrets", "rotate")

        assert done["resealed"] == 2
        assert done["forgotten"] == []
        assert secret_of(keeper) == before
        old, new = keeper.reads("secrets", "list")
        assert (old["key"], old["secrets"], old["isInUse"]) == ("7e577e57", 0, False)
        assert (new["key"], new["secrets"], new["isInUse"]) == (done["key"], 2, True)
        self._put_back(keeper)

    def _put_back(self, keeper: Operator) -> None:
        """Let the shared database have the key of the other tests again."""
        lines = key_file(keeper).read_text().splitlines()
        key_file(keeper).write_text("\n".join(lines[:1] + lines[:0:-1]) + "\n")
        assert keeper.asks("secrets", "rotate").code == 0

    def test_the_old_key_can_be_forgotten(self, keeper: Operator) -> None:
        let_listen(keeper)
        before = secret_of(keeper)

        done = keeper.reads("secrets", "rotate", "--forget-old")

        assert done["forgotten"] == ["7e577e57"]
        assert Vault(key_file(keeper)).key_ids == [done["key"]]
        assert secret_of(keeper) == before
        assert "in use" in keeper.asks("secrets", "list").said


class TestAMissingOrWrongKey:
    def test_a_command_says_which_file_to_copy(self, keeper: Operator) -> None:
        key_file(keeper).unlink()

        ended = keeper.asks("merchant", "list")

        assert ended.code == 1
        assert f"`secret_key_file` {key_file(keeper)} does not exist; copy it" in ended.complained
        assert not key_file(keeper).exists()

    def test_the_key_of_another_deployment_is_named(self, keeper: Operator) -> None:
        key_file(keeper).unlink()
        create_key_file(key_file(keeper))

        ended = keeper.asks("merchant", "list")

        assert ended.code == 1
        assert "encrypted with the key 7e577e57, which is not in" in ended.complained

    def test_another_place_can_be_set(self, keeper: Operator, tmp_path: Path) -> None:
        elsewhere = tmp_path / "mounted.key"
        key_file(keeper).rename(elsewhere)

        assert keeper.asks("merchant", "list", secret_key_file=str(elsewhere)).code == 0


class TestDoctor:
    def examine(self, keeper: Operator) -> tuple[str, str]:
        """Return what the doctor says about secrets."""
        ended = keeper.asks("doctor", "--json")
        [found] = [one for one in json.loads(ended.said) if one["check"] == "secrets"]
        return found["verdict"], found["message"]

    def test_a_well_kept_key_is_well(self, keeper: Operator) -> None:
        let_listen(keeper)
        key_file(keeper).chmod(0o600)

        verdict, message = self.examine(keeper)

        assert verdict == "ok"
        assert message.startswith("all 2 can be opened with key 7e577e57")

    def test_a_key_that_others_can_read_is_warned_about(self, keeper: Operator) -> None:
        key_file(keeper).chmod(0o644)

        assert self.examine(keeper)[0] == "warn"

    def test_a_missing_key_fails(self, keeper: Operator) -> None:
        key_file(keeper).unlink()

        verdict, message = self.examine(keeper)

        assert verdict == "FAIL"
        assert "does not exist; copy it" in message

    def test_a_secret_that_cannot_be_opened_fails(self, keeper: Operator) -> None:
        let_listen(keeper)
        key_file(keeper).unlink()
        create_key_file(key_file(keeper))

        verdict, message = self.examine(keeper)

        assert verdict == "FAIL"
        assert "2 cannot be opened, such as that of merchant 1" in message

    def test_a_rotation_that_was_stopped_is_warned_about(self, keeper: Operator) -> None:
        let_listen(keeper)
        key_file(keeper).chmod(0o600)
        with keeper.database.writing() as db:
            db.exec_driver_sql("UPDATE secrets SET value = 'aaaaaaaa' WHERE name = 'sealing-key'")

        verdict, message = self.examine(keeper)

        assert verdict == "warn"
        assert "run `printworks secrets rotate`" in message


def test_the_first_start_makes_the_key_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"

    assert run("merchant", "add", "A shop", "--data", data).code == 0

    made = data / "secret.key"
    assert made.stat().st_mode & 0o777 == 0o600
    assert run("merchant", "add", "Another shop", "--data", data).code == 0


def test_before_the_first_start_the_doctor_expects_no_key(
    tmp_path: Path, blank_database_url: str
) -> None:
    database = Database(blank_database_url)
    run("migrate", "--data", tmp_path, database_url=blank_database_url)
    database.close()

    ended = run("doctor", "--json", "--data", tmp_path, database_url=blank_database_url)

    [found] = [one for one in json.loads(ended.said) if one["check"] == "secrets"]
    assert (found["verdict"], "first start" in found["message"]) == ("warn", True)


@pytest.mark.both_databases
def test_the_doctor_finds_live_callbacks_that_are_not_encrypted(keeper: Operator) -> None:
    live = {"environment": "live", "public_url": "https://print.example", "payments": "account"}

    def examine(**settings: str) -> str:
        said = keeper.asks("doctor", "--json", **settings).said
        [found] = [one for one in json.loads(said) if one["check"] == "callbacks"]
        return f"{found['verdict']}: {found['message']}"

    assert examine() == "ok: may go to http addresses."
    assert examine(**live) == "ok: go to https addresses."
    with keeper.database.writing() as db:
        set_callback(a_work(db, keeper.merchant), "http://shop.example/")
    assert examine(**live).startswith("warn: 1 http addresses are from before")
    assert examine(**live, callbacks_allow_http="true").startswith("ok")
