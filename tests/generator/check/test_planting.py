"""A build plants its own gold and looks for it: a wrong `secrets()` is found by its author."""

import csv
from pathlib import Path

import pytest

from gen_bundle.build import BuildRequest, build
from gen_bundle.check import Secrets, check_path
from gen_bundle.check.report import UNSEEN
from gen_bundle.errors import UserError
from tests.generator.check.drafts import Draft, both, delete, new, put, with_options, write
from tests.generator.check.test_gold_columns import GOLD, INPUT, ITEMS, LANGUAGES, NAMED, POINTS, Table, bits, written
from tests.generator.competition import small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")

UNKNOWN: Table = {"id": ITEMS, "language": LANGUAGES, "mmse": POINTS}


def unseen(
    gold: Table, secrets: Secrets | None, folder: Path, public: Table | None = None, key: str = "public_data"
) -> list[str]:
    """What the search would not find in a bundle with this gold; `public` is what participants read, under `key`."""
    draft: Draft = new()
    both(delete("ref/truth.txt"), write("ref/gold.csv", written(gold)), with_options(secrets=secrets))(draft)
    place = "phases" if key == "public_data" else "tasks"
    both(put(place, 0, key, "public"), write("public/items.csv", written(public or INPUT)))(draft)
    return [finding.what for finding in draft.check(folder).findings if finding.id == UNSEEN]


@pytest.mark.parametrize("channel", ["public data", "input data"])
def test_labels_that_nobody_names_are_told_to_the_author(channel: str, tmp_path: Path) -> None:
    joined = Secrets(texts=tuple(" ".join(row) for row in zip(*UNKNOWN.values(), strict=True)), files=("gold.csv",))
    # all columns together are found by any search, and one that is public is no secret
    assert unseen(UNKNOWN, joined, tmp_path, key=channel.replace(" ", "_")) == [
        f"planted in the {channel}, mmse of gold.csv, {form} would not be found"
        for form in ("beside ids", "beside ids in a zip", "as JSON")
    ]


def test_named_labels_are_found_in_every_form(tmp_path: Path) -> None:
    named = Secrets(labels=tuple(zip(ITEMS, POINTS, strict=True)), files=("gold.csv",))
    assert unseen(UNKNOWN, named, tmp_path) == []
    assert unseen(GOLD, NAMED, tmp_path) == []


def test_without_public_data_nothing_but_what_is_named_is_asked_for(tmp_path: Path) -> None:
    assert unseen(GOLD, NAMED, tmp_path, {"word": ["other", "words"]}) == []


@pytest.mark.parametrize(
    "gold",
    [{"id": ["a"], "mmse": ["1"]}, {"id": ITEMS[:4], "language": LANGUAGES[:4], "mmse": POINTS[:4]}, {"id": ITEMS}],
)
def test_gold_with_too_little_to_find_fails_no_build(gold: Table, tmp_path: Path) -> None:
    assert unseen(gold, Secrets(files=("gold.csv",)), tmp_path) == []


def test_a_foreign_bundle_has_no_author_to_tell(tmp_path: Path) -> None:
    assert unseen(UNKNOWN, None, tmp_path) == []


PAIRS = '[" ".join(pair) for pair in read_reference(read, request).labels.items()]'
JOINED = f'return {{"texts": {PAIRS}, "labels": [], "files": []}}'
NOTHING = 'return {"texts": [], "labels": [], "files": []}'


def with_secrets(parent: Path, line: str) -> Path:
    """A competition whose `secrets()` ends with this line."""
    folder = small_competition(parent)
    (organiser,) = folder.glob("*/organiser.py")
    code = organiser.read_text(encoding="utf-8")
    right = 'return {"texts": [], "labels": sorted(read_reference(read, request).labels.items()), "files": [FILE]}'
    assert right in code
    organiser.write_text(code.replace(right, line), encoding="utf-8")
    return folder


def labels(folder: Path) -> dict[str, str]:
    """The gold of the test phase."""
    with (folder / "data" / "test" / "gold.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["label"] for row in csv.DictReader(file)}


def with_column(folder: Path, values: dict[str, str], *, ids: bool = False) -> bytes:
    """The public texts of the test phase with a further column, or with all columns of the gold."""
    with (folder / "data" / "public" / "test" / "texts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = {name: [row[name] for row in rows] for name in rows[0]}
    more = {"gold id": [row["id"] for row in rows]} if ids else {}
    return written({**table, **more, "x": [values[row["id"]] for row in rows]})


@pytest.mark.slow
@pytest.mark.parametrize("line", [JOINED, NOTHING])
def test_gold_stops_a_build_whatever_the_package_names(line: str, tmp_path: Path) -> None:
    folder = with_secrets(tmp_path, line)
    gold = labels(folder)
    forms = {
        "all columns": with_column(folder, gold, ids=True),
        "bits": with_column(folder, dict(zip(gold, bits(list(gold.values()), "positive"), strict=True))),
        "copy": (folder / "data" / "test" / "gold.csv").read_bytes(),
    }
    for form, data in forms.items():
        (folder / "data" / "public" / "test" / f"{form}.dat").write_bytes(data)
    with pytest.raises(UserError) as caught:
        build(BuildRequest(str(folder), tmp_path / "out.zip"))
    for form in forms:
        assert any(f"public_data/test.zip/test/{form}.dat" in message for message in caught.value.messages), form
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.slow
def test_released_gold_of_a_public_phase_stops_no_build(tmp_path: Path) -> None:
    folder = small_competition(tmp_path, lambda declaration: declaration["phases"][0].update(gold="public"))
    released = folder / "data" / "public" / "released.csv"
    released.write_bytes((folder / "data" / "dev" / "gold.csv").read_bytes())
    (built,) = build(BuildRequest(str(folder), tmp_path / "out.zip"))
    assert not built.leaks
    assert [finding.id for finding in check_path(built.path).findings if finding.id in ("leak", "key-ignored")] == []
    released.write_bytes((folder / "data" / "test" / "gold.csv").read_bytes())
    with pytest.raises(UserError):
        build(BuildRequest(str(folder), tmp_path / "out.zip"))


@pytest.mark.slow
def test_the_gold_of_clpsych_would_be_found(tmp_path: Path) -> None:
    """That of the other competitions, too: `tests/bundles` builds them in each layout."""
    (built,) = build(BuildRequest("clpsych2025", tmp_path / "out.zip"))
    assert built.errors == ()
