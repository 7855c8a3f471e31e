"""Which way leads to a lab, by the catalogue and the environment."""

from pathlib import Path

import pytest

from printworks.catalogue.labs import Connector as Way
from printworks.labs import open_connector
from printworks.labs.folder import FolderLab
from printworks.labs.simulated import SimulatedLab
from printworks.settings import BadSetting, Settings
from tests.labs.conftest import a_lab
from tests.labs.samples import a_job, files_of, name_of

LIVE = {
    "PRINTWORKS_ENVIRONMENT": "live",
    "PRINTWORKS_PUBLIC_URL": "https://print.example",
    "PRINTWORKS_PAYMENTS": "account",
}


def test_labs_of_a_sandbox_are_simulated_unless_the_catalogue_says_otherwise(data: Path) -> None:
    settings = Settings.load(data, {})

    assert isinstance(open_connector(a_lab(), settings), SimulatedLab)
    assert isinstance(open_connector(a_lab(connector=Way.FOLDER), settings), FolderLab)


def test_labs_of_a_live_service_have_a_folder(data: Path) -> None:
    assert isinstance(open_connector(a_lab(), Settings.load(data, LIVE)), FolderLab)


def test_a_live_service_refuses_a_simulated_lab(data: Path) -> None:
    with pytest.raises(BadSetting, match="york is simulated, and this service is live"):
        open_connector(a_lab(connector=Way.SIMULATED), Settings.load(data, LIVE))


@pytest.mark.parametrize(("setting", "place"), [("", "data/labs/york"), ("{share}", "share/york")])
def test_a_hot_folder_is_in_the_data_folder_unless_another_place_is_named(
    data: Path, tmp_path: Path, setting: str, place: str
) -> None:
    share = tmp_path / "share"
    share.mkdir()
    environ = {**LIVE, "PRINTWORKS_LAB_FOLDER": setting.format(share=share)}
    job = a_job()

    lab = open_connector(a_lab(), Settings.load(data, environ))
    lab.place(job, files_of(job, tmp_path / "files"))

    assert (tmp_path / place / "inbox" / name_of(7) / "job.json").exists()


@pytest.mark.parametrize(
    "template",
    [
        "{image}",
        "{size}/{attribute:finish}/{sku}-{image}-{copies}x",
        "{job}/{attribute:paper weight}/{image}.print",
    ],
)
def test_a_template_may_name_what_a_press_goes_by(data: Path, template: str) -> None:
    settings = Settings.load(data, {"PRINTWORKS_LAB_PRINT_PATH": template})

    assert settings.lab_print_path == template


@pytest.mark.parametrize(
    "template",
    [
        "prints/{sku}",
        "{image}/{sku}",
        "/{image}",
        "{image}/",
        "a//{image}",
        "../{image}",
        "a/../{image}",
        "./{image}",
        ".hidden-{image}",
        "{image}{nothing}",
        "{image}{sku",
        "{image}{attribute}",
        "{image!r}",
        "{image.__class__}",
        "{image} {sku}",
        "a\\{image}",
    ],
)
def test_a_template_that_cannot_work_stops_the_start(data: Path, template: str) -> None:
    with pytest.raises(BadSetting, match="lab_print_path"):
        Settings.load(data, {"PRINTWORKS_LAB_PRINT_PATH": template})
