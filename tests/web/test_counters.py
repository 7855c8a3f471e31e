"""Counters are shared by the processes of a machine, whatever happens to one of them."""

import mmap
import os
from pathlib import Path

import pytest

from printworks.web import counters
from printworks.web.counters import SLOTS, Counters, identify, open_counters


def test_two_processes_see_the_same_numbers(tmp_path: Path) -> None:
    ours, _ = open_counters(tmp_path)
    place = ours.find(42)
    child = os.fork()
    if not child:
        theirs, _ = open_counters(tmp_path)
        theirs.write(theirs.find(42), 7.5)
        os._exit(0)
    os.waitpid(child, 0)

    assert ours.read(place) == 7.5
    assert (tmp_path / counters.FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_merchants_and_addresses_have_tables_of_their_own(tmp_path: Path) -> None:
    merchants, addresses = open_counters(tmp_path)

    merchants.write(merchants.find(1), 1.0)

    assert addresses.read(addresses.find(1)) == 0.0


def test_when_all_places_are_taken_the_one_that_is_full_soonest_goes() -> None:
    table = Counters(memoryview(bytearray(2 * 8 * 4)))
    places = []
    for owner, number in ((1, 30.0), (2, 10.0), (3, 20.0), (4, 40.0)):
        places.append(table.find(owner))
        table.write(places[-1], number)

    assert table.find(5) == places[1]
    assert table.read(places[1]) == 0.0
    assert not table.belongs_to(places[1], 2)
    assert [table.belongs_to(places[0], 1), table.belongs_to(places[1], 5)] == [True, True]


def test_without_a_file_a_process_counts_by_itself(tmp_path: Path) -> None:
    merchants, _ = open_counters(tmp_path / "missing")

    merchants.write(merchants.find(1), 1.0)

    assert merchants.read(merchants.find(1)) == 1.0


def test_a_full_disk_is_found_out_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", is_full)

    merchants, _ = open_counters(tmp_path)

    merchants.write(merchants.find(1), 1.0)


def test_names_have_the_same_id_everywhere() -> None:
    assert identify("192.0.2.1") == identify("192.0.2.1") != identify("192.0.2.2")
    assert -(2**63) <= identify("\udcff") < 2**63
    assert mmap.PAGESIZE <= 2 * 8 * SLOTS
