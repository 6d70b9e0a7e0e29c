"""One built competition for all tests of the kit."""

import zipfile
from pathlib import Path

import pytest

from gen_bundle.build.building import BuildRequest, build
from tests.generator.code_competition import declaration, write_competition

PARTS = {
    "ingestion": "ingestion_programs/test.zip",
    "scoring": "scoring_programs/test-joint.zip",
    "ref": "reference_data/test-joint.zip",
    "input_data": "input_data/test.zip",
}


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed programs and data of the phase `test` of the small competition."""
    folder = tmp_path_factory.mktemp("code")
    competition = write_competition(folder / "feelings", declaration())
    build(BuildRequest(str(competition), out=folder / "bundle.zip", force=True))
    with zipfile.ZipFile(folder / "bundle.zip") as bundle:
        for part, name in PARTS.items():
            with bundle.open(name) as opened, zipfile.ZipFile(opened) as packed:
                packed.extractall(folder / "parts" / part)
    return folder / "parts"
