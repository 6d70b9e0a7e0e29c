"""Every real task that `new --like` begins with makes a competition that builds, passes the check and dry-runs."""

import re
from pathlib import Path

import pytest

from gen_bundle.author.new.project import Place, new_like, real_tasks
from gen_bundle.ground.errors import UserError
from tests.bundles.replayed import files_of
from tests.generator.author.new.making import bundled, scores
from tests.scoring_programs.declared.real_tasks.data import SEED
from tests.scoring_programs.declared.real_tasks.making import MAKERS, team
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(real_tasks(), ("emoint", "kits19")))
def test_a_competition_like_a_real_task(name: str, tmp_path: Path) -> None:
    folder = new_like(Place("mine", tmp_path), name)
    assert f"# Declared like {name}: " in (folder / "bundle.yaml").read_text(encoding="utf-8")
    assert files_of(folder / "example") == files_of(folder / "data")
    found = scores(bundled(folder).path)
    (values,) = found.values()
    expected = MAKERS[name](team(SEED, "random"))[2]
    assert {key: values[key] for key in expected} == pytest.approx(expected, abs=5e-5)  # four decimals are shown
    assert files_of(folder / "example") == files_of(folder / "data")


def test_an_unknown_name_lists_the_tasks(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        new_like(Place("mine", tmp_path), "semeval")
    (message,) = error.value.messages
    assert message.startswith("--like semeval: no such task. There are:\n")
    assert re.findall(r"^  (\S+)", message, re.MULTILINE) == list(real_tasks())
    assert not list(tmp_path.iterdir())
