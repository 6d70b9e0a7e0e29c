"""One table of bounds: a submission meets the same ones at home and in a dry run."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from gen_bundle.dry_run.dry_run import DryRunRequest, dry_run
from gen_bundle.ground.zips.tree import MOST_KEPT, open_archive
from gen_bundle.ground.zips.unpacking import BUNDLE, MIB, SUBMISSION, ArchiveError, unpack
from scoring_kit import submission_zip
from scoring_kit.errors import Problems
from tests.generator.dry_run.bundles import Bundle
from tests.generator.dry_run.in_process import ScriptEngine
from tests.generator.ground.zips.test_unpacking import zipped


def at_home(path: Path, folder: Path) -> bool:
    """Whether the kit takes a submission."""
    folder.mkdir()
    problems = Problems()
    submission_zip.unpack(path, folder, problems)
    return not problems.errors


def in_a_dry_run(path: Path, folder: Path) -> bool:
    """Whether a dry run unpacks a submission."""
    folder.mkdir()
    results = dry_run(DryRunRequest(Bundle().write(folder / "bundle"), folder / "out", [path]), ScriptEngine())
    return "the submission: " not in results.runs[0].message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "taken"),
    [
        ({f"{number}": b"" for number in range(10_001)}, False),
        ({"zeros.txt": bytes(8 * MIB)}, True),  # deflated a thousand times
    ],
    ids=["too many files", "one file that deflates well"],
)
def test_a_submission_is_taken_at_home_as_in_a_dry_run(members: dict[str, bytes], taken: bool, tmp_path: Path) -> None:
    path = zipped(tmp_path / "team.zip", members)
    assert at_home(path, tmp_path / "home") is taken
    assert in_a_dry_run(path, tmp_path / "twin") is taken


def test_bytes_are_counted_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission_zip, "MAX_BYTES", 1000)
    bounds = type(SUBMISSION)(members=2, total_bytes=1000)
    for size, taken in ((1000, True), (1001, False)):
        path = zipped(tmp_path / f"{size}.zip", {"a": bytes(600), "b": bytes(size - 600)})
        assert at_home(path, tmp_path / f"home{size}") is taken
        try:
            unpack(path, tmp_path / f"twin{size}", bounds)
        except ArchiveError:
            assert not taken
        else:
            assert taken


def test_small_members_stay_in_memory_up_to_a_bound(tmp_path: Path) -> None:
    members = {f"{number}.txt": b"0123456789abcdef" * 1024 * 16 for number in range(12)}
    path = zipped(tmp_path / "bundle.zip", members)
    with path.open("rb") as stream, ExitStack() as held:
        found = open_archive(stream, held)
        assert 0 < found.kept <= MOST_KEPT
        for name, node in found.tree.files():
            assert node.read(2**20) == members[name]


@pytest.mark.slow
def test_a_bundle_that_deflates_well_is_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bundle.zip", {"zeros.txt": bytes(8 * MIB)})
    unpack(path, tmp_path / "out", BUNDLE)
    assert (tmp_path / "out" / "zeros.txt").stat().st_size == 8 * MIB
