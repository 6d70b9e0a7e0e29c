"""gen-bundle confirm where nothing can be submitted: it says why, and changes nothing."""

from pathlib import Path
from typing import Any

import pytest

from gen_bundle.dry_run.engines import EngineError
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.errors import UserError
from gen_bundle.live.confirm import ConfirmRequest, confirm
from gen_bundle.live.connection import Connection
from tests.generator.check.drafts import drop
from tests.generator.live.conftest import Confirming, Start, Verb
from tests.live_server import Site


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda phase, task: phase.update(name="Final"),
            "phase Final: not of this bundle, which has the phase Main in its",
        ),
        (
            lambda phase, task: (phase["tasks"][0].update(name="Other"), task.update(name="Other")),
            "phase Main: its tasks are Other, in the bundle Task.",
        ),
    ],
)
def test_another_competition_gets_no_submission(
    site: Site, confirmed: Confirming, start: Start, change: Any, reason: str
) -> None:
    started = start()
    (task,) = site.tasks.values()
    change(site.competitions[started[0]]["phases"][0], task)
    done = confirmed(started=started)
    assert done.problems[0].startswith(reason)
    assert not done.good
    assert site.changing() == []


def test_a_bundle_with_nothing_to_submit(confirmed: Confirming) -> None:
    done = confirmed(drop("solutions"), drop("phases", 0, "starting_kit"))
    assert done.problems == ["phase Main: the bundle has neither a solution nor a starting kit with template/ for it."]
    assert not done.good


class Imageless(ProcessEngine):
    def prepare(self, image: str) -> list[str]:
        raise EngineError(f"the image {image} is not here. Fetch it.")


def test_without_a_dry_run_nothing_is_submitted(site: Site, connection: Connection, start: Start) -> None:
    started = start()
    with pytest.raises(UserError, match=r"py39 is not here\. Fetch it\.\nNothing was submitted\."):
        confirm(connection, ConfirmRequest(*started), Imageless())
    assert site.changing() == []


def test_a_folder_or_a_broken_bundle_changes_nothing(
    site: Site, start: Start, confirm_verb: Verb, tmp_path: Path
) -> None:
    number, _ = start()
    (tmp_path / "broken.zip").write_bytes(b"no zip")
    done = confirm_verb((number, tmp_path / "broken.zip"))
    assert done.exit_code == 2
    assert site.changing() == []
