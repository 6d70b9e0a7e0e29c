"""A real task that `new --like` begins with makes a competition that builds, passes the check and dry-runs."""

import re
from pathlib import Path

import pytest

from gen_bundle.author.new.project import Place, new_like, real_tasks
from gen_bundle.ground.errors import UserError
from tests.bundles.replayed import files_of
from tests.generator.author.new.likes import assert_scores_of_maker, made_like
from tests.generator.author.new.making import bundled, scores

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["emoint", "kits19"])
def test_a_competition_like_a_real_task(name: str, tmp_path: Path) -> None:
    """The others: tests/platform_image, where the platform's versions score them, too."""
    folder = made_like(name, tmp_path)
    assert_scores_of_maker(name, scores(bundled(folder).path))
    assert files_of(folder / "example") == files_of(folder / "data")


def test_an_unknown_name_lists_the_tasks(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        new_like(Place("mine", tmp_path), "semeval")
    (message,) = error.value.messages
    assert message.startswith("--like semeval: no such task. There are:\n")
    assert re.findall(r"^  (\S+)", message, re.MULTILINE) == list(real_tasks())
    assert not list(tmp_path.iterdir())
