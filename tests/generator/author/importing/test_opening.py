"""What is nearly a bundle is taken for one, and that is said; what is none gets an error, and nothing is written."""

import zipfile
from pathlib import Path

import pytest

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.ground.errors import UserError
from tests.generator.author.importing.round_trip import built, imported, round_trip, written
from tests.generator.check import drafts
from tests.generator.check.drafts import Draft, packed
from tests.yaml_text import dumped


def moved(draft: Draft, before: str, after: str) -> Draft:
    """The draft with files of one name, or below one folder, under another."""
    files = {}
    for name, data in draft.files.items():
        files[after + name.removeprefix(before) if name.startswith(before) else name] = data
    return Draft(draft.yaml, files)


def below(draft: Draft, top: str) -> bytes:
    """The draft's zip, with a folder around everything."""
    text = dumped(draft.yaml).encode()
    return packed({f"{top}/{name}": data for name, data in {**draft.files, "competition.yaml": text}.items()})


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("overview.md", "html/overview.md", "page overview.md: html/overview.md is taken for it"),
        ("overview.md", "Overview.MD", "page overview.md: Overview.MD is taken for it"),
        ("terms.md", "pages/all/terms.md", "page terms.md: pages/all/terms.md is taken for it"),
        ("logo.png", "images/logo.png", "logo logo.png: images/logo.png is taken for it"),
        ("ref/", "Ref/", "reference_data: Ref is taken for ref"),
        ("scoring/", "SCORING/", "scoring_program: SCORING is taken for scoring"),
    ],
)
def test_a_file_under_nearly_its_name(before: str, after: str, said: str, tmp_path: Path) -> None:
    found = imported(moved(drafts.new(), before, after), tmp_path)
    assert (found.changed, found.lost, found.absent, found.faults) == ([said], [], [], [])
    assert (tmp_path / "project" / "data" / "main" / "truth.txt").read_bytes() == b"a\nb\na\n"
    assert (tmp_path / "project" / "pages" / "overview.md").read_bytes() == b"# Overview\nWelcome.\n"


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_folder_that_a_makefile_would_have_packed(is_folder: bool, tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("tasks", 0, "scoring_program", "scoring.zip")(draft)
    path = written(draft, tmp_path)
    if is_folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "unpacked")
        path = tmp_path / "unpacked"
    found, differences = round_trip(path, tmp_path)
    assert found.changed == ["scoring_program: scoring is taken for scoring.zip"]
    assert is_folder == (differences == [])  # in a zip, the platform finds no program
    assert (tmp_path / "project" / "programs" / "score" / "score.py").read_bytes() == drafts.SCORER["score.py"]


@pytest.mark.parametrize("name", ["competition_9169.yaml", "competition.yml", "Competition.yaml"])
def test_another_name_for_the_declaration(name: str, tmp_path: Path) -> None:
    draft = drafts.new()
    draft.zip_bytes = packed({**draft.files, name: dumped(draft.yaml).encode()})
    assert imported(draft, tmp_path).changed == [f"{name}: is taken for competition.yaml"]


def test_a_folder_around_everything(tmp_path: Path) -> None:
    draft = drafts.new()
    draft.zip_bytes = below(draft, "bundle")
    found = imported(draft, tmp_path)
    assert found.changed == ["bundle/: is taken for the bundle; there is no competition.yaml above it"]
    assert (tmp_path / "project" / "programs" / "score" / "score.py").is_file()


def test_tags_of_python(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.replace("title: A small task", "title: !!python/unicode 'A small task'")(draft)
    assert imported(draft, tmp_path).changed == ["competition.yaml: tags such as !!python/unicode are left out"]
    assert 'title: "A small task"\n' in (tmp_path / "project" / "bundle.yaml").read_text()


def test_an_old_bundle_is_converted_first(tmp_path: Path) -> None:
    draft = moved(drafts.old(), "overview.html", "html/overview.html")
    found = imported(draft, tmp_path)
    assert found.changed[0] == "page overview.html: html/overview.html is taken for it"
    assert [line.split(":")[0] for line in found.lost] == ["docker image"]
    project = tmp_path / "project"
    assert (project / "pages" / "overview.html").read_bytes() == b"<h1>Overview</h1>Welcome."
    assert (project / "data" / "main" / "truth.txt").is_file()
    assert built(project).is_file()


def test_links_in_a_folder_and_in_a_zip_are_followed_within_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with zipfile.ZipFile(written(drafts.new(), tmp_path)) as archive:
        archive.extractall(folder)
    (folder / "ref").rename(folder / "truth")
    (folder / "ref").symlink_to("truth")
    assert import_bundle(folder, tmp_path / "a").changed == []
    link = zipfile.ZipInfo("ref")
    link.external_attr = 0o120777 << 16
    draft = moved(drafts.new(), "ref/", "truth/")
    path = written(draft, tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "truth")
    assert import_bundle(path, tmp_path / "b").changed == ["ref: is a link, and becomes what it leads to, truth"]
    for project in ("a", "b"):
        assert (tmp_path / project / "data" / "main" / "truth.txt").read_bytes() == b"a\nb\na\n"


def test_a_link_out_of_the_bundle_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("mine")
    draft = drafts.new()
    del draft.files["ref/truth.txt"]
    with zipfile.ZipFile(written(draft, tmp_path)) as archive:
        archive.extractall(tmp_path / "folder")
    (tmp_path / "folder" / "ref").symlink_to(tmp_path / "secret")
    absent = import_bundle(tmp_path / "folder", tmp_path / "project").absent
    assert absent == ["tasks[0].reference_data: ref; put its files into data/main/"]
    assert not list((tmp_path / "project").rglob("key"))


def test_each_absent_part_is_named_once_with_its_place(tmp_path: Path) -> None:
    draft = drafts.new()
    draft.files = {}
    assert imported(draft, tmp_path).absent == [
        "page overview.md: a placeholder is in its place",
        "page terms.md: a placeholder is in its place",
        "logo logo.png: a placeholder is in its place",
        "tasks[0].scoring_program: scoring; put its files into programs/score/",
        "tasks[0].reference_data: ref; put its files into data/main/",
    ]
    assert "TODO(organiser)" in (tmp_path / "project" / "pages" / "overview.md").read_text()


@pytest.mark.parametrize(
    ("edit", "at", "place"),
    [
        (drafts.drop("terms"), "terms", "pages/terms.md"),
        (drafts.put("terms", "/etc/hostname"), "terms", "pages/hostname"),
        (drafts.put("pages", 0, "file", "ref"), "pages[0].file", "pages/ref"),
        (drafts.put("image", None), "image", "logo.png"),
        (drafts.put("image", "ref"), "image", "logo"),
    ],
)
def test_a_placeholder_where_no_file_is_named(edit: drafts.Edit, at: str, place: str, tmp_path: Path) -> None:
    draft = drafts.new()
    edit(draft)
    absent = imported(draft, tmp_path).absent
    assert absent == [f"{at}: names no file of the bundle; a placeholder is in {place}"]
    placeholder = (tmp_path / "project" / place).read_bytes()
    assert b"TODO(organiser)" in placeholder or b"placeholder of gen-bundle new" in placeholder


def test_phases_of_any_name_have_ids(tmp_path: Path) -> None:
    names = ["1. Übung", "input", "测试", "class", "..", "public", "Main", "main", "MAIN"]
    draft = drafts.new()
    phases = [{"index": at, "name": name, "start": f"204{at}-01-01", "tasks": [0]} for at, name in enumerate(names)]
    drafts.put("phases", phases)(draft)
    imported, differences = round_trip(written(draft, tmp_path), tmp_path)
    assert (imported.absent, differences) == ([], [])


def test_keys_that_the_platform_ignores_are_named(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("collaborators", ["me"])(draft)
    drafts.put("phases", 0, "color", "green")(draft)
    drafts.put("leaderboards", 0, "columns", 1, "label", "More")(draft)
    assert imported(draft, tmp_path).lost == [
        "collaborators: Codabench ignores it, too",
        "phases[0].color: Codabench ignores it, too",
        "leaderboards[0].columns[1].label: Codabench ignores it, too",
    ]


@pytest.mark.parametrize(
    ("written", "declared", "is_said"),
    [
        ("2031-01-02 13:30:00", "2031-01-02 00:00:00 UTC", True),  # no quotes: the time is dropped
        ("'2031-01-02 13:30:00'", "2031-01-02 13:30:00 UTC", False),
        ("'2031-01-02T13:30:00+02:00'", "2031-01-02 13:30:00 UTC", True),
        ("2031-01-02", "2031-01-02 00:00:00 UTC", False),
        ("02.01.2031", "2031-02-01 00:00:00 UTC", True),
        ("'12-31-2031 10:00'", "2031-12-31 10:00:00 UTC", False),
        ("'Thursday 10:00'", "Thursday 10:00", False),
    ],
)
def test_dates_are_written_as_the_platform_reads_them(
    written: str, declared: str, is_said: bool, tmp_path: Path
) -> None:
    draft = drafts.new()
    drafts.replace("start: '2031-01-01 00:00:00'", f"start: {written}")(draft)
    found = imported(draft, tmp_path)
    assert f'start: "{declared}"' in (tmp_path / "project" / "bundle.yaml").read_text()
    assert [f"is {declared} to Codabench" in line for line in found.changed] == [True] * is_said


BAD = {
    "no zip": (b"nothing", "bundle.zip: the zip: File is not a zip file."),
    "empty": (b"", "File is not a zip file"),
    "cut off": (drafts.new().as_zip()[:-30], "File is not a zip file"),
    "no declaration": (packed({"readme.md": b"hi"}), "there is no competition.yaml"),
    "no yaml": (packed({"competition.yaml": b"a: [1"}), "competition.yaml:1"),
    "not UTF-8": (packed({"competition.yaml": "a: ä".encode("utf-16")}), "Expected YAML in UTF-8"),
    "no mapping": (packed({"competition.yaml": b"- 1"}), "expected a mapping"),
    "two bundles": (
        packed({"a/competition.yaml": b"x: 1", "b/competition.yaml": b"x: 1"}),
        "a/competition.yaml, b/competition.yaml",
    ),
    "endless": (
        packed({"competition.yaml": b"title: x\npages: &a [" + b"*a, " * 3 + b"]\n"}),
        "enormous",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_bundle(name: str, tmp_path: Path) -> None:
    data, said = BAD[name]
    (tmp_path / "bundle.zip").write_bytes(data)
    with pytest.raises(UserError) as refused:
        import_bundle(tmp_path / "bundle.zip", tmp_path / "project")
    assert said in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.zip"]


def test_members_that_leave_the_bundle_are_written_within_the_project(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("tasks", 0, "reference_data", "ref.zip")(draft)
    draft.files["ref.zip"] = packed({"../../../evil.txt": b"x", "/abs/evil.txt": b"y", "truth.txt": b"a"})
    assert imported(draft, tmp_path / "deep").faults == []
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*evil.txt")}
    assert found == {"deep/project/data/main/evil.txt", "deep/project/data/main/abs/evil.txt"}


def test_what_is_no_readable_zip_stays_as_it_is(tmp_path: Path) -> None:
    draft = drafts.new()
    drafts.put("tasks", 0, "reference_data", "ref.zip")(draft)
    draft.files["ref.zip"] = b"PK\3\4 and then nothing"
    assert imported(draft, tmp_path).lost == []
    assert (tmp_path / "project" / "data" / "main.zip").read_bytes() == b"PK\3\4 and then nothing"


@pytest.mark.parametrize("what", ["a file", "a full folder"])
def test_nothing_that_is_there_is_replaced(what: str, tmp_path: Path) -> None:
    target = tmp_path / "project"
    if what == "a file":
        target.write_text("mine")
    else:
        target.mkdir()
        (target / "mine").write_text("mine")
    with pytest.raises(UserError, match="Expected a new folder, or an empty one"):
        imported(drafts.new(), tmp_path)
    assert (target if target.is_file() else target / "mine").read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    assert imported(drafts.new(), tmp_path).faults == []
    assert (tmp_path / "project" / "bundle.yaml").is_file()
