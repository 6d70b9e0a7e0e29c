"""From a declaration to a bundle, through the public door; we look at what lies in the bundle."""

import errno
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import resource
from tests.generator.build.looking import built, document, members, refused
from tests.generator.competition import second_module, second_task, small_competition

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path)


@pytest.fixture
def two_tasks(tmp_path: Path) -> Path:
    return with_two_tasks(tmp_path)


def with_two_tasks(parent: Path) -> Path:
    def change(declaration: dict[str, Any]) -> None:
        second_task(declaration)
        declaration["submission_rule"] = "all"

    folder = small_competition(parent, change)
    second_module(folder)
    return folder


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the competition as `folder` holds it, to be read."""
    work = tmp_path_factory.mktemp("joint")
    return built(small_competition(work)).path


QUEUE = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a competition with public data for all, baselines in each form and a queue, in the year 2025."""
    work = tmp_path_factory.mktemp("varied")
    folder = small_competition(work)
    (folder / "data" / "public" / "README.txt").write_text("for all", encoding="utf-8")
    majority = folder / "data" / "baselines" / "dev" / "majority" / "predictions.csv"
    shutil.copy(majority, majority.parents[1] / "predictions.csv")
    with zipfile.ZipFile(majority.parents[1] / "zipped.zip", "w") as archive:
        archive.write(majority, "predictions.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1735689600")
        return built(folder, overrides=(f"queue={QUEUE}",)).path


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The bundles of `two_tasks` in layout separate, to be read."""
    work = tmp_path_factory.mktemp("separate")
    return [one.path for one in build(BuildRequest(str(with_two_tasks(work)), work / "out", layout="separate"))]


@pytest.mark.slow
def test_a_joint_bundle_holds_one_task_a_phase(bundle: Path) -> None:
    files = members(bundle)
    text = yaml.safe_load(files["competition.yaml"])
    assert text["version"] == 2
    assert [task["id"] for task in text["tasks"]] == ["joint", "joint"]
    assert [phase["tasks"] for phase in text["phases"]] == [[0], [1]]
    assert [column["index"] for column in text["leaderboards"][0]["columns"]] == [0, 1]
    assert b'start: "' in files["competition.yaml"], "dates are quoted, or Codabench drops the time of day"
    named = [task[key] for task in text["tasks"] for key in ("scoring_program", "reference_data")]
    named += [phase[key] for phase in text["phases"] for key in ("public_data", "starting_kit")]
    named += [solution["path"] for solution in text["solutions"]] + [page["file"] for page in text["pages"]]
    assert {*named, text["image"], text["terms"], "competition.yaml"} == set(files)


@pytest.mark.slow
def test_zips_in_a_bundle_are_not_compressed_once_more(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        how = {(Path(member.filename).suffix == ".zip", member.compress_type) for member in archive.infolist()}
    assert how == {(True, zipfile.ZIP_STORED), (False, zipfile.ZIP_DEFLATED)}


@pytest.mark.slow
def test_no_null_stands_in_competition_yaml(bundle: Path) -> None:
    text = members(bundle)["competition.yaml"].decode()
    assert [line for line in text.splitlines() if line.endswith((": null", "- null"))] == []


@pytest.mark.slow
def test_a_program_is_self_contained_and_has_no_organiser(bundle: Path) -> None:
    names = members(members(bundle)["scoring_programs/test-joint.zip"])
    assert {
        "metadata.yaml",
        "score.py",
        "program.json",
        "scoring_kit/frame.py",
        "scoring_kit/NOTICE",
        "my_task/classification.py",
    } <= set(names)
    assert not [name for name in names if "organiser" in name or "__pycache__" in name]


@pytest.mark.slow
def test_layout_tasks_has_a_program_for_each_task_and_every_column(two_tasks: Path) -> None:
    one = built(two_tasks, layout="tasks")
    text = document(one.path)
    assert [task["id"] for task in text["tasks"]] == ["classification", "again"] * 2
    assert len({task["name"] for task in text["tasks"]}) == 4
    described = json.loads(members(members(one.path)["scoring_programs/test-again.zip"])["program.json"])
    assert described["tasks"] == ["again"]
    assert [column["key"] for column in described["columns"]] == ["macro_f1", "accuracy", "again_f1"]


@pytest.mark.slow
def test_layout_tasks_asked_for_replaces_a_rule_that_would_lose_scores(folder: Path) -> None:
    one = built(folder, layout="tasks")
    assert document(one.path)["leaderboards"][0]["submission_rule"] == "Force_Latest_Multiple"
    assert any("last would lose the scores" in note for note in one.notes)
    with pytest.raises(UserError, match="submission_rule"):
        built(folder, layout="tasks", overrides=("submission_rule=best",))


@pytest.mark.slow
def test_layout_separate_fills_a_folder(bundles: list[Path]) -> None:
    assert [path.name for path in bundles] == ["my-task-classification.zip", "my-task-again.zip"]
    columns = document(bundles[1])["leaderboards"][0]["columns"]
    assert [column["key"] for column in columns] == ["again_f1"]


@pytest.mark.slow
def test_layout_separate_replaces_all_bundles_or_none(two_tasks: Path, bundles: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(bundles[0].parent, out)
    earlier = {path: path.read_bytes() for path in out.iterdir()}
    assert len(earlier) == 2
    page = two_tasks / "pages" / "overview.md.j2"
    page.write_text("{% if tasks[0].id == 'again' %}{{ nonsense }}{% endif %}\n# Overview\n", encoding="utf-8")
    with pytest.raises(UserError, match="nonsense"):
        build(BuildRequest(str(two_tasks), out, layout="separate"))
    assert {path: path.read_bytes() for path in out.iterdir()} == earlier


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"task": "again"}, "only layout separate"),
        ({"task": "agian", "layout": "separate"}, "Did you mean 'again'?"),
        ({"data": Path("nowhere")}, "--data nowhere: no such folder"),
        ({"source": "clpsych2052"}, "Did you mean 'clpsych2025'?"),
        ({"source": "/nowhere/at/all"}, "/nowhere/at/all: no such file or folder, and no competition has this name"),
        ({"source": __file__}, "test_building.py: is a file, and no competition has this name"),
        ({"data": Path(__file__)}, "test_building.py: is a file. Expected one folder per phase"),
        ({"out": Path("/proc/x.zip")}, "^/proc/x.zip: No such file or directory"),
        ({"out": Path(__file__) / "x.zip"}, "test_building.py: .*--out"),
        ({"out": Path("x" * 300 + ".zip")}, "File name too long"),
        ({"out": Path("/dev/full")}, "/dev/full: is a device"),
        ({"out": Path("/dev/full"), "force": True}, "/dev/full: is a device"),
    ],
)
def test_wrong_use_is_told(two_tasks: Path, tmp_path: Path, changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError, match=expected.replace("?", r"\?")):
        build(BuildRequest(**{"source": str(two_tasks), "out": tmp_path / "x.zip", **changes}))
    assert not (tmp_path / "x.zip").exists()


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(folder: Path, bundle: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
        if path.is_file():
            path.chmod(0o600)
    assert built(folder).path.read_bytes() == bundle.read_bytes()


@pytest.mark.slow
def test_source_date_epoch_and_a_queue_of_ones_own_are_honoured(varied: Path) -> None:
    assert document(varied)["queue"] == QUEUE
    with zipfile.ZipFile(varied) as archive:
        assert {member.date_time for member in archive.infolist()} == {(2025, 1, 1, 0, 0, 0)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epoch", "moment"), [("0", (1980, 1, 1, 0, 0, 0)), ("99999999999", (2107, 12, 31, 23, 59, 58))]
)
def test_a_time_that_a_zip_cannot_hold_becomes_the_nearest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: str, moment: tuple[int, ...]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with zipfile.ZipFile(built(folder).path) as archive:
        assert {member.date_time for member in archive.infolist()} == {moment}


@pytest.mark.parametrize("epoch", ["", "yesterday", "-5", "1.5"])
def test_a_source_date_epoch_that_is_no_time_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, epoch: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(UserError, match="SOURCE_DATE_EPOCH"):
        built(folder)


@pytest.mark.slow
@pytest.mark.parametrize("ended", ["by a fault", "by a full disk", "by hand"])
def test_a_build_that_ends_early_leaves_the_old_bundle_whole(
    ended: str, folder: Path, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copy(bundle, tmp_path))
    before = out.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def full(target: Path, _: object) -> None:
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    if ended == "by hand":
        monkeypatch.setattr(Path, "replace", interrupted)
    elif ended == "by a full disk":
        monkeypatch.setattr(sys.modules["gen_bundle.build.building"], "write_zip", full)
    else:
        (folder / "data" / "test" / "gold.csv").write_text("id,label\nt1,nonsense\n", encoding="utf-8")
    with pytest.raises((UserError, KeyboardInterrupt)) as caught:
        built(folder, out=out)
    assert isinstance(caught.value, KeyboardInterrupt) == (ended == "by hand")
    if ended == "by a full disk":
        assert "No space left on device. " in str(caught.value)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.glob(".*tmp")] == []


def test_a_file_that_is_no_bundle_is_not_replaced_unasked(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "gold.json"
    out.write_text("precious", encoding="utf-8")
    with pytest.raises(UserError, match="exists and is not a bundle"):
        build(BuildRequest(str(folder), out))
    assert out.read_text(encoding="utf-8") == "precious"


def test_faults_of_the_data_are_told_over_all_phases(folder: Path) -> None:
    for phase in ("dev", "test"):
        (folder / "data" / phase / "gold.csv").write_text("id,label\nt1,happy\nt1,sad\n", encoding="utf-8")
    messages = "\n".join(refused(folder))
    assert all(f"{phase}: gold.csv:{line}" in messages for phase in ("dev", "test") for line in (2, 3))
    assert "happy" not in messages


def test_a_missing_phase_is_named(folder: Path) -> None:
    shutil.rmtree(folder / "data" / "test")
    with pytest.raises(UserError, match=r"no folder .*data/test"):
        built(folder)


@pytest.mark.slow
def test_real_data_replace_the_synthetic_ones(folder: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    for phase in ("dev", "test"):
        (real / phase).mkdir(parents=True)
        (real / phase / "gold.csv").write_text("id,label\nx1,positive\nx2,negative\n", encoding="utf-8")
    one = built(folder, data=real)
    text = document(one.path)
    assert all("public_data" not in phase for phase in text["phases"])
    assert [solution["name"] for solution in text["solutions"]] == ["empty (Development)", "empty (Test)"]
    assert any("no text has the label neutral" in note for note in one.notes)


@pytest.mark.slow
def test_options_that_name_files_travel_and_folders_become_absolute(tmp_path: Path) -> None:
    files = {"table": "weights.tsv", "good": "x/list.txt", "bad": "y/list.txt", "again": "x/list.txt"}
    absent = {"root": "/no/such/model", "below": "./absent", "home": "~/no-such-model"}
    options = {**files, **absent, "model": "some/hub-name", "local": "./model", "mode": "data"}
    folder = small_competition(tmp_path, lambda declaration: declaration.update(options=options))
    (folder / "model").mkdir()
    for name in set(files.values()):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"content of {name}", encoding="utf-8")
    one = built(folder)
    program = members(members(one.path)["scoring_programs/test-joint.zip"])
    placed = json.loads(program["program.json"])["options"]
    travelled = {key: placed.pop(key) for key in files}
    assert {key: program[name].decode() for key, name in travelled.items()} == {
        key: f"content of {name}" for key, name in files.items()
    }
    assert (travelled["table"], travelled["good"]) == ("files/weights.tsv", "files/list.txt")
    expected = {key: str(Path(path).expanduser().absolute()) for key, path in absent.items()}
    assert placed == {
        **expected,
        "model": "some/hub-name",
        "local": str((folder / "model").resolve()),
        "mode": "data",
    }
    assert any("must exist, at this very path" in note for note in one.notes)
    for key, path in expected.items():
        assert any(f"options.{key}: there is no {path} on this machine" in note for note in one.notes), key


@pytest.mark.slow
def test_a_column_computed_over_tasks_is_refused_in_layout_separate(two_tasks: Path, tmp_path: Path) -> None:
    mean = "{key: mean, title: Mean, sort: desc, meaning: The mean., computation: avg, of: [accuracy, again_f1]}"
    declaration = yaml.safe_load((two_tasks / "bundle.yaml").read_text(encoding="utf-8"))
    declaration["tasks"][1]["columns"].append(yaml.safe_load(mean))
    (two_tasks / "bundle.yaml").write_text(yaml.safe_dump(declaration), encoding="utf-8")
    built(two_tasks)
    with pytest.raises(UserError, match=r"tasks.again.columns.mean.of.0: 'accuracy' is not a column of this task"):
        build(BuildRequest(str(two_tasks), tmp_path / "out", layout="separate"))


@pytest.mark.parametrize(
    ("link", "expected"), [("../dev", "a link to a folder"), ("../nothing", "a link that leads nowhere")]
)
def test_a_link_is_not_left_out_in_silence(folder: Path, link: str, expected: str) -> None:
    (folder / "data" / "public" / "more").symlink_to(link)
    with pytest.raises(UserError, match=f"public/more: is {expected}"):
        built(folder)


def test_a_name_that_no_zip_can_hold_is_told(folder: Path) -> None:
    (folder / "data" / "public" / "caf\udce9.txt").write_text("?", encoding="utf-8")
    with pytest.raises(UserError, match=r"caf\\udce9.txt': this name is not UTF-8"):
        built(folder)


def test_what_is_wrong_with_an_option_is_told_once_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(resource("bundles") / "clarity2026", folder)
    text = (folder / "bundle.yaml").read_text(encoding="utf-8")
    lines = [*text.splitlines(), "options:", "  foo:", "    bar: 1", "  baz: 2"]
    (folder / "bundle.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert refused(folder, overrides=("options.baz=3",)) == [
        f"bundle.yaml:{len(lines) - 2}:3: options.foo: unknown option. CLARITY has none.",
        "--set options.baz=3: options.baz: unknown option. CLARITY has none.",
    ]


@pytest.mark.parametrize(
    ("column", "worst", "told"),
    [
        ("regression.columns.rmse", 0, "lower is better, and every score that is worse than 0 is written as 0."),
        ("classification.columns.macro_f1", 1, "higher is better, and every score that is worse than 1"),
        ("regression.columns.rmse", 30, ""),
        ("classification.columns.macro_f1", 0.5, ""),
    ],
)
def test_a_worst_score_that_may_be_the_best_is_pointed_out(column: str, worst: float, told: str) -> None:
    key = f"tasks.{column}.worst"
    notes = resolve(resource("bundles") / "process2025", overrides=(f"{key}={worst}",)).notes
    assert [note.startswith(f"{key}: {told}") for note in notes] == ([True] if told else [])


@pytest.mark.slow
def test_the_press_imports_no_scorer_and_nothing_heavy(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gen_bundle.build.building import BuildRequest, build;"
        f"build(BuildRequest({str(folder)!r}, Path({str(tmp_path / 'b.zip')!r})));"
        "heavy = {'torch', 'pandas', 'sklearn', 'numpy', 'transformers', 'my_task'} & set(sys.modules);"
        "heavy |= {name for name in sys.modules if name.startswith('scoring_kit.') and name[12:16] != 'base'};"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_baselines_are_folders_zips_or_single_files(varied: Path) -> None:
    files = members(varied)
    for name in ("majority", "predictions", "zipped"):
        assert list(members(files[f"solutions/dev/{name}.zip"])) == ["predictions.csv"]


def test_baselines_without_a_file_or_a_name_of_their_own_are_told(folder: Path) -> None:
    baselines = folder / "data" / "baselines" / "dev"
    (baselines / "nothing").mkdir()
    with pytest.raises(UserError, match="nothing: holds no file"):
        built(folder)
    (baselines / "nothing").rmdir()
    shutil.copy(baselines / "majority" / "predictions.csv", baselines / "majority.csv")
    with pytest.raises(UserError, match="two baselines of this name"):
        built(folder)


@pytest.mark.slow
def test_public_data_of_one_phase_stay_out_of_the_other(varied: Path) -> None:
    for phase in ("dev", "test"):
        assert list(members(members(varied)[f"public_data/{phase}.zip"])) == ["README.txt", f"{phase}/texts.csv"]


@pytest.mark.slow
def test_a_bundle_that_codabench_would_refuse_is_not_left_behind(folder: Path) -> None:
    (folder / "logo.png").write_text("no picture", encoding="utf-8")
    assert any("logo" in message for message in refused(folder))
    one = built(folder, force=True)
    assert one.path.exists()
    assert any("logo" in error for error in one.errors)
    assert not one.leaks
