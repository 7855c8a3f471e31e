"""The labs: job documents, lab reports, and a connector for each way of reaching a lab."""

from typing import Final

from printworks.catalogue.labs import Connector, Lab
from printworks.labs.connector import LabConnector
from printworks.settings import BadSetting, Settings

_DEFAULTS: Final = {"sandbox": Connector.SIMULATED, "live": Connector.FOLDER}


def open_connector(lab: Lab, settings: Settings) -> LabConnector:
    """Open the connector of a lab; raise `BadSetting` if it is simulated and the service is live.

    The lab is not contacted yet: one that is unavailable does not stop the others. Use one
    connector for each lab and process, because it remembers what it found at the last poll.
    """
    kind = lab.connector or _DEFAULTS[settings.environment]
    if kind is Connector.FOLDER:
        return _open_folder(lab, settings)
    if settings.environment == "live":
        raise BadSetting(
            f"The lab {lab.code} is simulated, and this service is live: orders would be paid "
            'for and never printed. Set `connector = "folder"` in the catalogue, or remove it.'
        )
    from printworks.labs.simulated import SimulatedLab

    return SimulatedLab(lab.code)


def _open_folder(lab: Lab, settings: Settings) -> LabConnector:
    # Imported only when needed: it loads the template engine for job sheets.
    from printworks.labs.folder import FolderLab

    folder = settings.lab_folder
    if folder is None:
        folder = settings.data / "labs"
        # A folder from the settings is not created: it may be a disk that is not mounted.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return FolderLab(folder / lab.code, settings.lab_print_path)
