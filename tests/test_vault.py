"""The vault: what it seals can be opened here, by its key, for what it belongs to, and nowhere else."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from printworks.vault import (
    OpenedSecrets,
    SecretKeyUnusable,
    SecretUnreadable,
    Vault,
    add_key,
    create_key_file,
    key_of,
    read_keys,
    remove_keys,
)

SECRET = "whsec_canary"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A new file of keys."""
    made = tmp_path / "keys" / "secret.key"
    made.parent.mkdir()
    create_key_file(made)
    return made


@pytest.fixture
def vault(file: Path) -> Vault:
    """A vault with one key."""
    return Vault(file)


def seal(vault: Vault, about: str = "merchant 1") -> str:
    """Seal the secret with the newest key."""
    return vault.seal(SECRET, key_id=vault.key_ids[-1], about=about)


def test_what_is_sealed_can_be_opened(vault: Vault) -> None:
    sealed = seal(vault)

    assert SECRET not in sealed
    assert vault.open(sealed, about="merchant 1") == SECRET
    assert seal(vault) != sealed


def test_a_secret_that_was_copied_to_another_row_cannot_be_opened(vault: Vault) -> None:
    with pytest.raises(SecretUnreadable):
        vault.open(seal(vault), about="merchant 2")


def test_what_was_opened_once_is_remembered_for_what_it_belongs_to_alone(
    file: Path, vault: Vault
) -> None:
    sealed, opened = seal(vault), OpenedSecrets(vault)
    assert opened.open(sealed, about="merchant 1") == SECRET
    file.unlink()

    assert opened.open(sealed, about="merchant 1") == SECRET
    with pytest.raises(SecretUnreadable):
        opened.open(sealed, about="merchant 2")


@pytest.mark.parametrize("change", [lambda text: text[:-6] + "AAAA" + text[-2:], str.upper])
def test_a_secret_that_was_changed_cannot_be_opened(vault: Vault, change: object) -> None:
    assert callable(change)
    with pytest.raises(SecretUnreadable):
        vault.open(change(seal(vault)), about="merchant 1")


@pytest.mark.parametrize("text", ["", "whsec_plain", "v2.00000000.AAAA", "v1.00000000.AAA"])
def test_what_is_no_sealed_secret_cannot_be_opened(vault: Vault, text: str) -> None:
    with pytest.raises(SecretUnreadable):
        vault.open(text, about="merchant 1")


def test_a_key_that_was_added_meanwhile_is_found_without_a_restart(
    vault: Vault, file: Path
) -> None:
    old = seal(vault)
    new = add_key(file)

    sealed = Vault(file).seal(SECRET, key_id=new, about="merchant 1")

    assert key_of(sealed) == new
    assert vault.has(new)
    assert vault.open(sealed, about="merchant 1") == SECRET
    assert Vault(file).open(old, about="merchant 1") == SECRET


def test_without_its_key_a_secret_is_unreadable_and_the_operator_reads_why(
    vault: Vault, file: Path
) -> None:
    sealed, new = seal(vault), add_key(file)

    assert remove_keys(file, except_for=frozenset({new})) == [key_of(sealed)]
    assert remove_keys(file, except_for=frozenset({new})) == []

    with pytest.raises(SecretUnreadable) as refused:
        Vault(file).open(sealed, about="merchant 1")
    assert key_of(sealed) in refused.value.detail
    assert str(file) in refused.value.detail
    # Whoever asked learns nothing about keys and files.
    assert str(file) not in refused.value.message


def test_a_file_that_is_gone_makes_its_secrets_unreadable(vault: Vault, file: Path) -> None:
    sealed = seal(vault)
    file.unlink()

    with pytest.raises(SecretUnreadable, match="cannot read its own secrets"):
        Vault(file).open(sealed, about="merchant 1")


class TestFile:
    def test_only_its_owner_can_read_it(self, file: Path) -> None:
        add_key(file)

        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert list(file.parent.iterdir()) == [file]

    def test_processes_that_start_at_once_share_one_key(self, tmp_path: Path) -> None:
        file = tmp_path / "new.key"

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(create_key_file, [file] * 8))

        assert len(read_keys(file)) == 1

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            (b"", "has no key in it"),
            (b"# nothing\n", "has no key in it"),
            (b"hello\n", "Line 1 of `secret_key_file`"),
            (b"\xff\xfe", "cannot be read"),
        ],
    )
    def test_one_that_is_wrong_is_named(self, file: Path, content: bytes, complaint: str) -> None:
        file.write_bytes(content)

        with pytest.raises(SecretKeyUnusable, match=complaint):
            read_keys(file)

    def test_one_that_does_not_exist_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SecretKeyUnusable, match="does not exist; copy it"):
            read_keys(tmp_path / "none.key")
