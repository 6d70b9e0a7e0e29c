"""docs/live.md is true: its commands run in their order, against the site of the tests."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gen_bundle.cli import root
from tests.generator.live.conftest import confirmable_draft
from tests.live_ports import serve_site
from tests.live_server import PASSWORD, Site, packed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_confirm")]

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
DATA = ROOT / "bundles" / "process2025" / "data"
ID = 1234  # of the page


@pytest.fixture
def numbered_site() -> Iterator[Site]:
    """A site whose first bundle becomes the competition of the page: dataset, status, task, then the competition."""
    with serve_site(Site(numbers=iter([1, 2, 3, ID, *range(5000, 6000)]))) as site:
        yield site


def test_the_commands_of_the_page(numbered_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bundle.zip").write_bytes(confirmable_draft().as_zip())
    shutil.copytree(DATA, "data")
    (block,) = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    verbs = [command.split()[1] for command in block.splitlines()]
    assert verbs == ["login", "upload", "confirm", "update", "status", "fetch", "rank"]
    for command in block.splitlines():
        _, verb, *arguments = shlex.split(command)
        server = [] if verb == "rank" else ["--server", numbered_site.address]
        engine = ["--engine", "process", "--trust"] if verb == "confirm" else []
        done = CliRunner().invoke(root, [verb, *arguments, *server, *engine], input=f"{PASSWORD}\n")
        assert done.exit_code == 0, f"{command}\n{done.output}"
        if verb == "update":
            _held(numbered_site)
    assert "Baseline-measures_Organisers" in done.stdout


def _held(site: Site) -> None:
    """The competition has come to its second phase, and somebody took part."""
    (main,) = site.competitions[ID]["phases"]
    site.competitions[ID]["phases"].append(main | {"id": 9, "index": 1, "name": "Test"})
    (baseline,) = (DATA / "baselines" / "test" / "good").iterdir()
    site.add_submission(9, "organisers", packed({baseline.name: baseline.read_bytes()}))
