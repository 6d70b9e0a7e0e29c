"""Looking runs nothing, and programs of others run on this machine only where the user says so."""

import shutil
import stat
import zipfile
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli import root
from gen_bundle.dry_run.engines.choose import StrangersError, refuse_strangers
from gen_bundle.dry_run.engines.process import ProcessEngine
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import is_known, remember
from gen_bundle.ground.zips.writing import write_zip as write_bytes
from tests.generator.build.test_declared import DECLARATION, declare
from tests.generator.build.test_declared import competition as competition
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip
from tests.generator.dry_run.test_isolation import INGESTION
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition that comes with the tool, built by somebody else."""
    return build(BuildRequest("process2025", tmp_path_factory.mktemp("shipped") / "shipped.zip", force=True))[0].path


@pytest.fixture(autouse=True)
def nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has never used gen-bundle, and no isolation; returns the folder of what is remembered."""
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.process"), "why_not", lambda _: "a test")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(root, list(map(str, arguments)))


def trapped(tmp_path: Path) -> tuple[Path, Path]:
    """A competition with a package of its own, and the file that its code makes when it runs."""
    folder = small_competition(tmp_path)
    touched = tmp_path / "touched"
    code = folder / "my_task" / "__init__.py"
    code.write_text(f"open({str(touched)!r}, 'w').close()\n{code.read_text(encoding='utf-8')}", encoding="utf-8")
    return folder, touched


@pytest.mark.slow
@pytest.mark.parametrize("verb", sweep(["check", "diff", "verify"], ["check"]))
def test_looking_at_a_folder_runs_nothing_of_it(tmp_path: Path, verb: str) -> None:
    folder, touched = trapped(tmp_path)
    scores = tmp_path / "scores.json"
    scores.write_text('{"f1": 0.5}')
    options: dict[str, list[object]] = {
        "check": [folder],
        "diff": [folder, folder],
        "verify": [scores, "--bundle", folder, "--submission", scores, "--phase", "test", "--engine", "process"],
    }
    done = run(verb, *options[verb])
    assert done.exit_code == 2
    assert "only bundle.yaml was looked at" in done.stderr
    assert "(./my_task/)" in done.stderr
    assert "--trust" in done.stderr
    assert not touched.exists()
    assert run(verb, *options[verb], "--trust").exit_code in (0, 1)
    assert touched.exists()


@pytest.mark.slow
def test_a_metric_of_the_folder_is_code_of_it(competition: Path, tmp_path: Path) -> None:
    columns = [{"key": "own", "title": "Own", "metric": {"name": "metrics.py:own"}, "sort": "desc", "worst": 0}]
    touched = tmp_path / "touched"
    text = f"open({str(touched)!r}, 'w').close()\ndef own(gold, predicted):\n    return 0.5\n"
    (competition / "metrics.py").write_text(text, encoding="utf-8")
    declare(competition, {**DECLARATION, "tasks": [{**DECLARATION["tasks"][0], "columns": columns}]})
    done = run("check", competition)
    assert (done.exit_code, "./metrics.py" in done.stderr, touched.exists()) == (2, True, False)
    done = run(competition, "--out", tmp_path / "bundle.zip", "--force")
    assert "runs the code of ./metrics.py" in done.stderr
    assert touched.exists()


@pytest.mark.slow
def test_a_build_says_once_whose_code_it_runs(tmp_path: Path) -> None:
    folder, _ = trapped(tmp_path)
    first, again = (run(folder, "--out", tmp_path / "bundle.zip") for _ in range(2))
    assert first.stderr.startswith("runs the code of ./my_task/\n")
    assert "runs the code" not in again.stderr
    assert run("check", folder).exit_code == 0  # their own work
    (folder / "my_task" / "more.py").write_text("")
    assert run("check", folder).exit_code == 2
    assert "runs the code" in run(folder, "--out", tmp_path / "bundle.zip").stderr


@pytest.mark.slow
def test_what_new_writes_is_the_users_own(tmp_path: Path) -> None:
    assert run("new", "films", "--package", "--in", tmp_path).exit_code == 0
    assert run("check", tmp_path / "films").exit_code == 0


@pytest.mark.parametrize("name", ["declared", "clarity2026", "scoring_kit"])
def test_no_folder_takes_the_place_of_ours(tmp_path: Path, name: str) -> None:
    folder, touched = trapped(tmp_path)
    shutil.copytree(folder / "my_task", folder / name)
    with pytest.raises(UserError, match=f"{name}: a package of gen-bundle has this name") as caught:
        build(BuildRequest(str(folder), tmp_path / "bundle.zip"))
    assert caught.value.status == 2
    assert not touched.exists()


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["zip", "folder"])
def test_programs_of_others_need_trust(tmp_path: Path, shape: str) -> None:
    touched = tmp_path / "touched"
    bundle = Bundle(f"open({str(touched)!r}, 'w').close()\n").write(tmp_path / "bundle")
    if shape == "zip":
        bundle = Path(shutil.make_archive(str(tmp_path / "foreign"), "zip", bundle))
    submission = write_zip(tmp_path / "team.zip", GOOD)
    options = ["dry-run", bundle, "--submission", submission, "--engine", "process", "--out", tmp_path / "out"]
    done = run(*options)
    assert done.exit_code == 2
    assert "was not built here" in done.stderr
    assert "--trust" in done.stderr
    assert not touched.exists()
    assert run(*options, "--trust").exit_code == 1  # no scores
    assert touched.exists()


@pytest.mark.slow
def test_own_bundles_and_our_own_programs_need_none(shipped: Path, tmp_path: Path, nothing_is_known: Path) -> None:
    folder, _ = trapped(tmp_path)
    bundle = build(BuildRequest(str(folder), tmp_path / "bundle.zip"))[0].path
    for path in (bundle, shipped):
        refuse_strangers(path, ProcessEngine(), trust=False)
    shutil.rmtree(nothing_is_known)
    with pytest.raises(StrangersError, match="was not built here"):
        refuse_strangers(bundle, ProcessEngine(), trust=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numpy.py", ""),
        ("score.py", "print('mine')"),
        ("files/more.py", ""),
        ("scoring_kit/errors.cpython-312-x86_64-linux-gnu.so", ""),
        ("site/numpy/__init__.py", ""),
        ("metadata.yaml", "command: python3 /app/program/score.py /app/input /app/output; id"),
    ],
)
def test_a_byte_more_is_anothers_program(shipped: Path, tmp_path: Path, name: str, text: str) -> None:
    with zipfile.ZipFile(shipped) as archive:
        archive.extractall(tmp_path / "bundle")
    for program in (tmp_path / "bundle" / "scoring_programs").glob("*.zip"):
        with zipfile.ZipFile(program) as opened:
            members = {one: opened.read(one) for one in opened.namelist()}
        write_bytes(program, {**members, name: text.encode()})
    with pytest.raises(StrangersError, match="without isolation"):
        refuse_strangers(tmp_path / "bundle", ProcessEngine(), trust=False)


@pytest.mark.parametrize(
    ("takes_code", "files", "refused"),
    [
        (True, GOOD, True),
        (False, GOOD, False),
        (False, {"metadata": "command: python3 own.py"}, True),  # version 1.25 runs it
    ],
)
def test_solutions_that_are_programs_need_trust_beside_our_own_programs(
    takes_code: bool, files: dict[str, str], refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "programs_of_others", lambda *_: [])
    folders = {"ingest": {"i.py": "", "metadata": "command: python3 /app/program/i.py"}, "inputs": {"x": ""}}
    solution = {"solutions": [{"index": 0, "path": "own.zip", "tasks": [0]}]}
    folder = Bundle(task=INGESTION if takes_code else {}, folders=folders, top=solution).write(tmp_path / "bundle")
    write_zip(folder / "own.zip", files)
    engine = ProcessEngine()
    refuse_strangers(folder, engine, trust=True)
    if refused:
        with pytest.raises(StrangersError, match=r"own\.zip would run on this machine without isolation"):
            refuse_strangers(folder, engine, trust=False)
    else:
        refuse_strangers(folder, engine, trust=False)


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    remember("a")
    assert not is_known("a")
    assert run(trapped(tmp_path)[0], "--out", tmp_path / "bundle.zip").exit_code == 0
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/proc/nowhere")
    remember("a")
    assert not is_known("a")


def test_what_is_remembered_is_the_users_alone(nothing_is_known: Path) -> None:
    remember("a")
    remember("b")
    remember("a")
    (file,) = (path for path in nothing_is_known.rglob("*") if path.is_file())
    assert file.read_text() == "a\nb\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
