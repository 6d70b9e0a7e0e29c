"""What the platform's image lacks: wheels of the lock, downloaded once, unpacked in the program."""

import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.author.new.project import Place, new_package
from gen_bundle.build.package import libraries
from gen_bundle.build.package.libraries import OWN_LOCK, OWN_LOCK_HEAD
from gen_bundle.build.package.programs import absent_imports, program_members
from gen_bundle.build.package.resolve import Resolved, resolve
from gen_bundle.check.bundle import open_bundle
from gen_bundle.check.leaks.visible import foreign_files, visible_files
from gen_bundle.codabench.worker import PACKAGES, PLATFORM_IMAGE, PYTHON
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import entries, lock_text
from gen_bundle.ground.zips.writing import folder_members, write_zip
from gen_bundle.image.request import ImageRequest
from tests.generator.author.new.test_recipes import made
from tests.generator.build.looking import built, command, edit, members
from tests.generator.competition import small_competition
from tests.generator.image.test_requirements import wheel

pytestmark = pytest.mark.usefixtures("kept_organisers", "forked_python")

really_downloaded = libraries._download


@pytest.fixture(autouse=True)
def nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and an index of made-up wheels for the real names."""
    monkeypatch.setattr(libraries, "_download", really_downloaded)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    (tmp_path / "wheels").mkdir()
    libraries._site.cache_clear()
    yield
    libraries._site.cache_clear()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts wheels of the packages that a library brings where pip finds them, and into the lock."""

    def add(library: str) -> None:
        digests = {
            name: wheel(tmp_path / "wheels", name.replace("-", "_"), "1.0") for name in libraries.BRINGS[library]
        }
        text = "".join(f"{name}==1.0 \\\n    --hash=sha256:{digest}\n" for name, digest in digests.items())
        monkeypatch.setattr(libraries, "lock_text", lambda _: text)

    return add


def packed(competition: Resolved) -> set[str]:
    members = program_members(competition, competition.parts[0], competition.phases[0])
    return {name for name in members if name.startswith("site/")}


@pytest.mark.slow
def test_wheels_travel_unpacked_and_come_from_the_cache_afterwards(
    tmp_path: Path, index: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    competition = resolve(made("generation", tmp_path))
    index("sacrebleu")
    assert libraries.lacking(competition) == []
    found = packed(competition)
    assert "site/sacrebleu-1.0.dist-info/METADATA" in found
    assert {name.split("/")[1].partition("-")[0] for name in found} == set(libraries.BRINGS["sacrebleu"])
    assert not [name for name in program_members(competition, competition.parts[0]) if name.startswith("site/")]
    libraries._site.cache_clear()
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    assert packed(competition) == found


def test_what_is_published_as_source_alone_travels_with_its_version(tmp_path: Path) -> None:
    (tmp_path / "wheels").rmdir()
    source = {"odd_score/__init__.py": "", "odd_score.egg-info/PKG-INFO": "Name: odd-score\nVersion: 0.1.2\n"}
    for name, text in source.items():
        file = tmp_path / "odd_score-0.1.2" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (tmp_path / "site").mkdir()
    (tmp_path / "wheels").mkdir()
    with tarfile.open(tmp_path / "wheels" / "odd_score-0.1.2.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "odd_score-0.1.2", "odd_score-0.1.2")
    libraries._unpack(tmp_path)
    write_zip(tmp_path / "program.zip", folder_members(tmp_path / "site"))
    (found,) = metadata.distributions(name="odd-score", path=[str(tmp_path / "program.zip")])
    assert found.version == "0.1.2"


@pytest.mark.slow
def test_another_file_of_that_name_is_refused(
    tmp_path: Path, index: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    competition = resolve(made("generation", tmp_path))
    index("sacrebleu")
    other = hashlib.sha256(b"another").hexdigest()
    changed = "".join(f"{name}==1.0 --hash=sha256:{other}\n" for name in libraries.BRINGS["sacrebleu"])
    monkeypatch.setattr(libraries, "lock_text", lambda _: changed)
    (lack,) = libraries.lacking(competition)
    assert "HASHES" in lack
    assert packed(competition) == set()


@pytest.mark.slow
def test_without_an_index_the_bundle_is_a_draft_that_says_so(tmp_path: Path) -> None:
    one = built(made("generation", tmp_path))
    (lack,) = (lack for lack in one.draft if lack.id == "image-lacks")
    assert lack.what.startswith(f"{PLATFORM_IMAGE} has no colorama, lxml, portalocker, regex, sacrebleu, tabulate (pip")
    assert "gen-bundle image build" in lack.repair
    assert members(one.path)


@pytest.mark.slow
def test_the_check_leaves_out_published_files_alone(tmp_path: Path, index: Callable[[str], None]) -> None:
    competition = made("generation", tmp_path)
    index("sacrebleu")
    whole = built(competition).path
    with ExitStack() as held:
        bundle = open_bundle(whole, datetime.now(UTC), held)
        searched = {seen.name for seen in foreign_files(bundle)}
        program, _ = sorted({s.name.split("/site/")[0] for s in visible_files(bundle) if "/site/" in s.name})
    assert not [name for name in searched if "/site/" in name]
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as changed:
        for name, data in members(whole).items():
            changed.writestr(name, with_member(data, "site/gold.csv") if name == program else data)
    with ExitStack() as held:
        bundle = open_bundle(tmp_path / "changed.zip", datetime.now(UTC), held)
        assert [s.name for s in foreign_files(bundle) if "/site/" in s.name] == [f"{program}/site/gold.csv"]


def with_member(data: bytes, name: str) -> bytes:
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, "id,label\n1,yes\n")
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classification", "multilabel", "regression", "spans", "tagging"])
def test_what_the_image_has_is_not_downloaded(kind: str, tmp_path: Path) -> None:
    competition = resolve(made(kind, tmp_path))
    assert competition.declaration.image == PLATFORM_IMAGE
    assert (libraries.lacking(competition), packed(competition)) == ([], set())


@pytest.mark.slow
def test_an_image_of_ones_own_is_the_organisers_to_fill(tmp_path: Path) -> None:
    def own(declared: dict[str, Any]) -> None:
        declared.update(docker_image="docker.io/me/mine:1", requirements=["spacy==3.8.7"])

    assert "image-lacks" not in {lack.id for lack in built(small_competition(tmp_path, own)).draft}
    folder = small_competition(tmp_path / "b", lambda declared: declared.update(requirements=["spacy==3.8.7"]))
    lacks = [lack.what for lack in built(folder).draft if lack.id == "image-lacks"]
    assert lacks == [f"{PLATFORM_IMAGE} has no spacy==3.8.7."]


@pytest.mark.slow
def test_requirements_that_are_locked_for_it_travel_in_the_programs(tmp_path: Path) -> None:
    numpy = PACKAGES["numpy"]
    for name, version, *needs in [("own_scorer", "1.2", "helping", "numpy"), ("helping", "2.0"), ("numpy", numpy)]:
        wheel(tmp_path / "wheels", name, version, *needs)
    folder = small_competition(tmp_path, lambda declared: declared.update(requirements=["own-scorer==1.2"]))
    for expected in (["locked 2 packages"], []):  # and nothing is left to do
        done = command("image", "lock", folder)
        assert done.exit_code == 0, done.output
        assert re.findall(r"locked \d packages", done.output) == expected
    one = built(folder)
    assert "image-lacks" not in {lack.id for lack in one.draft}
    assert {name.split("/")[1] for name in packed(resolve(folder))} == {
        "own_scorer-1.2.dist-info",
        "helping-2.0.dist-info",
    }
    (note,) = (note for note in one.notes if "travel in each program" in note)
    assert note.startswith(f"helping, own-scorer: not in {PLATFORM_IMAGE}")
    # an image of one's own has another Python: what is locked for this one is not for that one
    own = ImageRequest(
        "own", "me/own:1", "score", "cpu", requirements=("own-scorer==1.2",), lock_file=folder / OWN_LOCK
    )
    with pytest.raises(UserError, match=r"own-scorer==1\.2: not locked .*: gen-bundle image lock own --tag"):
        str(own.packages_text)


@pytest.mark.slow
def test_what_is_too_large_does_not_travel(
    tmp_path: Path, index: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    index("sacrebleu")
    monkeypatch.setattr(libraries, "MOST_SITE_MB", 0)
    (lack,) = libraries.lacking(resolve(made("generation", tmp_path)))
    assert lack.endswith("(0 MB unpacked, more than the 0 MB that may travel)")


@pytest.mark.slow
def test_what_own_code_imports_and_the_image_lacks_is_said(tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    code = folder / "my_task" / "classification.py"
    lazy = "\n\ndef words():\n    import nltk.data, numpy, scoring_kit.errors, csv\n    import my_task.submission\n"
    code.write_text(code.read_text(encoding="utf-8") + lazy, encoding="utf-8")
    assert absent_imports(resolve(folder)) == {"nltk": False}
    assert [note for note in built(folder).notes if note.startswith("nltk: imported somewhere")]
    (folder / "my_task" / "words.py").write_text("from nltk import data\n", encoding="utf-8")
    code.write_text(f"{code.read_text(encoding='utf-8')}\n\nfrom .words import data\n", encoding="utf-8")
    assert absent_imports(resolve(folder)) == {"nltk": True}
    assert [lack for lack in built(folder).draft if "has no nltk, which" in lack.what]


def test_the_table_is_what_the_lock_holds() -> None:
    locked = entries(lock_text(("metrics",)))
    assert {name for names in libraries.BRINGS.values() for name in names} <= set(locked)


@pytest.mark.slow
def test_a_locked_package_that_is_not_installed_does_not_stop_a_build(tmp_path: Path) -> None:
    wheel(tmp_path / "wheels", "drawing_kit", "1.0")
    packed = tmp_path / "wheels" / "drawing_kit-1.0-py3-none-any.whl"
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("drawing_kit.py", "def draw(path):\n    path.write_bytes(bytes(9))\n")
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    folder = new_package(Place("drawings", tmp_path))
    lock = f"{OWN_LOCK_HEAD.format(PYTHON)}drawing-kit==1.0 \\\n    --hash=sha256:{digest}\n"
    (folder / OWN_LOCK).write_text(lock, encoding="utf-8")
    edit(folder / "bundle.yaml", "\ntitle:", "\nrequirements: [drawing-kit==1.0]\ntitle:")
    drawn = '    import drawing_kit\n\n    drawing_kit.draw(Path(request["out"]) / "drawing.png")\n    return {}\n'
    edit(next(folder.glob("*/organiser.py")), "    return {}\n", drawn)
    assert built(folder).path.is_file()
