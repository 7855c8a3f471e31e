"""The labs: what they are told, what they say, and one file for each way of reaching one."""

from typing import Final

from printworks.catalogue.labs import Connector as Way
from printworks.catalogue.labs import Lab
from printworks.labs.connector import Connector
from printworks.settings import BadSetting, Settings

_USUAL: Final = {"sandbox": Way.SIMULATED, "live": Way.FOLDER}


def open_connector(lab: Lab, settings: Settings) -> Connector:
    """Open the way to a lab; raise `BadSetting` if a live service would only pretend to print.

    Nothing is touched before it is used: a lab that is away does not stop the others. Keep one
    for each lab while the process lasts, for it remembers what it saw at the last look.
    """
    way = lab.connector or _USUAL[settings.environment]
    if way is Way.FOLDER:
        return _open_folder(lab, settings)
    if settings.environment == "live":
        message = (
            f"The lab {lab.code} is simulated, and this service is live: orders would be paid "
            'for and never printed. Set `connector = "folder"` in the catalogue, or remove it.'
        )
        raise BadSetting(message)
    from printworks.labs.simulated import SimulatedLab

    return SimulatedLab(lab.code)


def _open_folder(lab: Lab, settings: Settings) -> Connector:
    # Only who has a lab with a folder waits for what draws the job sheets.
    from printworks.labs.folder import FolderLab

    folder = settings.lab_folder
    if folder is None:
        folder = settings.data / "labs"
        # A folder that was named is not made: it may be a disk that is not mounted.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FolderLab(folder / lab.code, settings.lab_print_path)
