"""`--set` with the items of lists: by their id, key, title or field, or by their place, counted from 0."""

from pathlib import Path

import pytest

from gen_bundle.declaration.read import read_competition
from gen_bundle.ground.errors import UserError
from tests.generator.competition import small_competition


@pytest.mark.parametrize("phase", ["test", "1"])
def test_an_item_by_its_id_or_its_place(tmp_path: Path, phase: str) -> None:
    competition = read_competition(small_competition(tmp_path), [f"phases.{phase}.name=Final"])
    assert [each.name for each in competition.phases] == ["Development", "Final"]


@pytest.mark.parametrize("place", ["2", "-1", "99999999999999999999"])
def test_a_place_beyond_the_list(tmp_path: Path, place: str) -> None:
    with pytest.raises(UserError) as caught:
        read_competition(small_competition(tmp_path), [f"phases.{place}.name=Final"])
    assert caught.value.messages == (f"--set phases.{place}.name=Final: no item '{place}'. Expected one of dev, test.",)


def test_the_item_itself(tmp_path: Path) -> None:
    competition = read_competition(
        small_competition(tmp_path), ["time_zones=[UTC, Asia/Tokyo]", "time_zones.0=Asia/Seoul"]
    )
    assert competition.time_zones == ["Asia/Seoul", "Asia/Tokyo"]
