"""`printworks catalogue`."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from printworks.catalogue.snapshot import Catalogue
from tests.catalogue.folders import (
    a_folder,
    a_lab,
    a_product,
    a_promise,
    a_service,
    a_whole_folder,
)
from tests.cli.operators import Operator
from tests.cli.program import run


@pytest.mark.parametrize("command", ["check", "list", "show", "labs", "services", "tariff"])
def test_every_command_has_help(command: str) -> None:
    ended = run("catalogue", command, "--help")

    assert ended.code == 0
    assert "--data" in ended.said


def test_the_built_in_catalogue_is_right(tmp_path: Path) -> None:
    ended = run("catalogue", "check", "--data", tmp_path)

    assert ended.code == 0
    assert ended.said.startswith("The catalogue is valid: 6")
    assert ended.said.endswith("; 11 labs, 47 shipping services.\n")


def test_checking_a_folder_reports_every_problem_on_a_line(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, a_product(band='"Boxes"', units='"mm"'))

    ended = run("catalogue", "check", folder, "--data", tmp_path)

    assert ended.code == 1
    assert ended.said.splitlines() == [
        "products.toml:6: `Boxes` is not in `bands`; known are `Prints`, `Canvas`.",
        "products.toml:10: `mm` is no value of `units`; known are `inches`, `cm`.",
        "2 problems.",
    ]


def test_problems_can_be_read_by_programs(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, a_product(units='"mm"'))

    ended = run("catalogue", "check", folder, "--json", "--data", tmp_path)

    assert ended.code == 1
    assert json.loads(ended.said)["problems"] == [
        {
            "file": "products.toml",
            "line": 10,
            "sentence": "`mm` is no value of `units`; known are `inches`, `cm`.",
        }
    ]


def test_a_right_folder_says_so_to_programs(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, a_product())

    ended = run("catalogue", "check", folder, "--json", "--data", tmp_path)

    assert (ended.code, json.loads(ended.said)) == (
        0,
        {"products": 1, "labs": 0, "services": 0, "problems": [], "warnings": []},
    )


def test_the_setting_chooses_another_folder(tmp_path: Path) -> None:
    a_folder(tmp_path, a_product())

    ended = run("catalogue", "list", "--json", "--data", tmp_path, catalogue="catalogue")

    assert [product["sku"] for product in json.loads(ended.said)] == ["PHOTO-4X6"]


def test_a_wrong_folder_in_the_setting_is_explained(tmp_path: Path) -> None:
    folder = a_folder(tmp_path, a_product(units='"mm"'))

    ended = run("catalogue", "list", "--data", tmp_path, catalogue=str(folder))

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == (
        "printworks: The catalogue cannot be used.\n"
        "products.toml:10: `mm` is no value of `units`; known are `inches`, `cm`.\n"
    )


def test_a_list_can_be_narrowed_to_country_quality_and_kind(tmp_path: Path) -> None:
    ended = run(
        *("catalogue", "list", "--country", "au", "--quality", "standard", "--kind", "canvas"),
        *("--json", "--data", tmp_path),
    )

    found = json.loads(ended.said)
    assert "AU-CAN-125-20X30" in {product["sku"] for product in found}
    assert {product["kind"] for product in found} == {"canvas"}
    assert all("AU" in product["soldTo"] for product in found)
    assert all("Standard" in product["qualityLevels"] for product in found)


def test_a_list_shows_whole_skus_and_prices(tmp_path: Path) -> None:
    ended = run("catalogue", "list", "--country", "NZ", "--kind", "canvas", "--data", tmp_path)

    [line] = [line for line in ended.said.splitlines() if "AU-CAN-125-20X30" in line]
    assert line.split()[-4:] == ["30.50", "39.50", "36.00", "63.00"]


def test_a_list_without_a_country_shows_the_usual_prices(tmp_path: Path) -> None:
    ended = run("catalogue", "list", "--kind", "canvas", "--data", tmp_path)

    [line] = [line for line in ended.said.splitlines() if "AU-CAN-125-20X30" in line]
    assert line.split()[-1] == "59.50"


def test_an_empty_list_says_so(tmp_path: Path) -> None:
    ended = run(
        *("catalogue", "list", "--country", "GB", "--kind", "acrylic"), *("--data", tmp_path)
    )

    assert (ended.code, ended.said) == (0, "There is no such product.\n")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--country", "ZZ", "Country with code ZZ not found"),
        ("--quality", "Best", "QualityLevel Best not found"),
        ("--kind", "hat", "There is no kind 'hat'; there are print, poster, "),
    ],
)
def test_an_unknown_filter_is_explained(
    option: str, value: str, sentence: str, tmp_path: Path
) -> None:
    ended = run("catalogue", "list", option, value, "--data", tmp_path)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained.startswith(f"printworks: {sentence}")


def test_a_product_is_shown_with_everything(tmp_path: Path) -> None:
    ended = run("catalogue", "show", "fra-insta-30x30", "--data", tmp_path)

    assert ended.code == 0
    assert "attributes         frameColour white, black\n" in ended.said
    assert "soldTo             everywhere\n" in ended.said


def test_a_product_can_be_read_by_programs(tmp_path: Path) -> None:
    ended = run("catalogue", "show", "AU-CAN-125-20X30", "--json", "--data", tmp_path)

    product = json.loads(ended.said)
    assert (product["imageSize"], product["fullSize"]) == ("22.75x32.75", "20x30")
    assert product["recommendedPixels"] == "3413x4913"
    assert product["soldTo"] == ["AU", "NZ"]


def test_an_unknown_sku_is_answered_with_close_ones(tmp_path: Path) -> None:
    ended = run("catalogue", "show", "GLOBAL-PHO-4X66-PRO", "--data", tmp_path)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained.startswith("printworks: SKU not in catalogue: GLOBAL-PHO-4X66-PRO;")
    assert "GLOBAL-PHO-4X6-PRO" in ended.complained


def test_a_sku_like_no_other_is_unknown(tmp_path: Path) -> None:
    ended = run("catalogue", "show", "?", "--data", tmp_path)

    assert ended.complained == "printworks: SKU not in catalogue: ?.\n"


def test_checking_a_folder_covers_labs_and_shipping(tmp_path: Path) -> None:
    folder = a_whole_folder(
        tmp_path, labs=a_lab(capacity="0"), services=a_service(carrier='"RoyalMal"')
    )

    ended = run("catalogue", "check", folder, "--data", tmp_path)

    assert ended.code == 1
    assert ended.said.splitlines() == [
        "labs.toml:8: `capacity` must be a whole number from 1 to 1000000, not 0.",
        "services.toml:4: `RoyalMal` is no value of `carrier`; did you mean `RoyalMail`?",
        "2 problems.",
    ]


def test_labs_are_listed_with_what_they_make(tmp_path: Path) -> None:
    ended = run("catalogue", "labs", "--data", tmp_path)

    [line] = [line for line in ended.said.splitlines() if "nl-utrecht" in line]
    assert "25: clothing" in line
    assert "15:00 Europe/Amsterdam" in line
    assert "mon-fri" in line


def test_a_paused_lab_is_shown_as_such(tmp_path: Path) -> None:
    a_whole_folder(tmp_path, labs=a_lab(paused="true", working_days='["sat"]'))

    ended = run("catalogue", "labs", "--data", tmp_path, catalogue="catalogue")

    assert ended.said.splitlines()[1].split()[-3:] == ["sat", "100", "paused"]


def test_labs_can_be_read_by_programs(tmp_path: Path) -> None:
    ended = run("catalogue", "labs", "--json", "--data", tmp_path)

    [lab] = [lab for lab in json.loads(ended.said) if lab["code"] == "gb-bristol"]
    assert lab["workingDays"] == ["mon", "tue", "wed", "thu", "fri", "sat"]
    assert (lab["cutOff"], lab["canHoldUntil"]) == ("11:00", "never")
    assert "2026-12-25" in lab["holidays"]


def test_a_catalogue_without_labs_says_so(tmp_path: Path) -> None:
    a_folder(tmp_path, a_product())

    ended = run("catalogue", "labs", "--data", tmp_path, catalogue="catalogue")

    assert (ended.code, ended.said) == (0, "There is no lab.\n")


def test_two_methods_that_promise_the_same_are_worth_a_warning(tmp_path: Path) -> None:
    promises = a_promise() + a_promise(to='["GB"]', Overnight="5")
    folder = a_whole_folder(tmp_path, promises=promises)

    ended = run("catalogue", "check", folder, "--data", tmp_path)
    read = run("catalogue", "check", folder, "--json", "--data", tmp_path)

    warning = "Express and Overnight to GB both promise 5 days."
    assert (ended.code, ended.said.splitlines()[1:]) == (0, [f"Warning: {warning}"])
    assert json.loads(read.said)["warnings"] == [warning]


def test_services_to_a_country_are_listed_with_their_prices(tmp_path: Path) -> None:
    ended = run("catalogue", "services", "--country", "gb", "--data", tmp_path)

    [line] = [line for line in ended.said.splitlines() if "royal-mail-2nd" in line]
    assert "2nd Class Royal Mail" in line
    assert line.rstrip().endswith("Prints 1.99 for 50, then 0.80")


def test_the_tariff_of_a_country_is_listed_with_its_steps(tmp_path: Path) -> None:
    for_people = run("catalogue", "tariff", "--country", "gb", "--data", tmp_path)
    for_programs = run("catalogue", "tariff", "--country", "GB", "--json", "--data", tmp_path)

    [line, *_] = [line for line in for_people.said.splitlines() if "2nd Class" in line]
    assert line.split()[:2] == ["Prints", "Budget"]
    assert "1.99 for 50, then 0.80" in line
    [rate, *_] = json.loads(for_programs.said)
    assert (rate["band"], rate["method"], rate["isTracked"]) == ("Prints", "Budget", False)
    assert rate["prices"][0] == {"currency": "GBP", "items": 50, "first": 199, "further": 80}


def test_services_can_be_narrowed_to_a_method(tmp_path: Path) -> None:
    ended = run(
        *("catalogue", "services", "--country", "GB", "--method", "overnight", "--json"),
        *("--data", tmp_path),
    )

    [service] = json.loads(ended.said)
    assert (service["code"], service["carrier"]) == ("gb-next-day", "DpdNextDay")
    assert service["costs"][0] == {
        "band": "Prints",
        "currency": "GBP",
        "items": 50,
        "first": 975,
        "further": 390,
    }


def test_no_service_by_a_method_is_said(tmp_path: Path) -> None:
    ended = run(
        *("catalogue", "services", "--country", "AQ", "--method", "Overnight"),
        *("--data", tmp_path),
    )

    assert (ended.code, ended.said) == (0, "There is no such service.\n")


def test_an_unknown_method_is_explained(tmp_path: Path) -> None:
    ended = run(
        *("catalogue", "services", "--country", "GB", "--method", "Rocket"),
        *("--data", tmp_path),
    )

    assert (ended.code, ended.complained) == (
        1,
        "printworks: There is no shipping method 'Rocket'; "
        "there are Budget, Standard, Express, Overnight.\n",
    )


@pytest.mark.both_databases
def test_a_version_is_imported_compared_published_and_rolled_back(
    keeper: Operator, tmp_path: Path
) -> None:
    assert keeper.asks("catalogue", "versions").said.startswith("There is no version yet")
    exported = tmp_path / "exported"
    keeper.reads("catalogue", "export", str(exported))
    dearer = tmp_path / "dearer"
    shutil.copytree(exported, dearer)
    products = dearer / "products.toml"
    products.write_text(products.read_text().replace("GBP = 20", "GBP = 30"))

    added = keeper.reads("catalogue", "import", str(dearer), "--title", "Dearer")["version"]
    changes = keeper.reads("catalogue", "diff", str(added))
    keeper.reads("catalogue", "publish", str(added))
    shown = keeper.reads("catalogue", "show", "PHOTO-4X6")
    back = keeper.reads("catalogue", "rollback")

    assert {"product", "PHOTO-4X6", "price GBP", "0.20", "0.30"} <= {*changes[0].values()}
    assert "30" in json.dumps(shown["prices"])
    assert back["sameAs"] == 1
    listed = keeper.reads("catalogue", "versions")
    assert [(one["id"], one["state"]) for one in listed] == [
        (back["version"], "published"),
        (added, "superseded"),
        (1, "superseded"),
    ]
    assert keeper.asks("catalogue", "diff", str(back["version"]), "1").said == (
        "They sell, make and send the same.\n"
    )


def test_what_was_exported_is_the_same_when_it_is_imported(
    keeper: Operator, tmp_path: Path
) -> None:
    exported, again = tmp_path / "exported", tmp_path / "again"

    keeper.reads("catalogue", "export", str(exported))
    keeper.reads("catalogue", "export", str(again))

    same = Catalogue.load(exported)
    assert same.fingerprint == Catalogue.load(keeper.catalogue).fingerprint
    refused = keeper.asks("catalogue", "export", str(again))
    assert (refused.code, "exists already" in refused.complained) == (1, True)
    twice = keeper.asks("catalogue", "import", str(exported), "--title", "The same")
    assert (twice.code, "the same as version 1" in twice.complained) == (1, True)


def test_a_wrong_folder_is_not_imported_and_every_problem_named(
    keeper: Operator, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong"
    shutil.copytree(keeper.catalogue, wrong)
    (wrong / "products.toml").write_text("nonsense")

    refused = keeper.asks("catalogue", "import", str(wrong))

    assert refused.code == 1
    assert "Nothing was imported" in refused.complained
    assert "products.toml:1" in refused.complained


def test_a_version_waits_for_its_time_and_can_be_withdrawn(
    keeper: Operator, tmp_path: Path
) -> None:
    dearer = tmp_path / "dearer"
    shutil.copytree(keeper.catalogue, dearer)
    products = dearer / "products.toml"
    products.write_text(products.read_text().replace("GBP = 20", "GBP = 30"))
    added = str(keeper.reads("catalogue", "import", str(dearer))["version"])
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"

    keeper.reads("catalogue", "publish", added, "--at", tomorrow)
    waiting = keeper.reads("catalogue", "versions")[0]["state"]
    keeper.reads("catalogue", "withdraw", added)

    assert waiting == "scheduled"
    assert keeper.reads("catalogue", "versions")[0]["state"] == "draft"
    refused = keeper.asks("catalogue", "rollback")
    assert (refused.code, "No other version was in use" in refused.complained) == (1, True)
