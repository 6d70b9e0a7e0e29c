"""No verb ends in a traceback, and none lets one item end the others, whatever strangers send."""

import io
import json
import random
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.cli import VERBS, main
from tests.forks import Fork
from tests.generator.cli.running import gen_bundle
from tests.generator.competition import small_competition
from tests.generator.dry_run.bundles import GOOD, Bundle, write_zip
from tests.generator.dry_run.in_process import ScriptEngine
from tests.generator.look.preview.bundles import write_bundle
from tests.organisers import opened_anew
from tests.sweeps import sweep

pytestmark = pytest.mark.usefixtures("kept_organisers")

LAUGHS = "l0: &l0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
MERGES = "m0: &m0 {x: 1}\n" + "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}\n" for n in range(1, 12))
METADATA = {
    "brackets": "[" * 100_000,
    "blocks": "- " * 100_000,
    "a bomb below command": f"{LAUGHS}command: *l11\n",
    "merge keys": f"{MERGES}command: python3 x.py\n",
    "a loop": "command: &c [*c]\n",
    "a number": "command: 5\n",
    "a date": "command: 2026-01-01 10:00:00+25:00\n",
    "hex digits": f"command: 0x{'f' * 30_000}\n",
    "much": "a: b\n" * 1_000_000,
}

Said = tuple[int, str, str]
DryRun = Callable[..., dict[str, dict[str, str]]]


@pytest.fixture
def verb(tmp_path: Path) -> Callable[..., Said]:
    """Runs a command line in this process: exit status, stdout, stderr."""

    def run(*arguments: object) -> Said:
        done = gen_bundle(*arguments, cwd=tmp_path)
        assert "a bug in gen-bundle" not in done.stderr + done.stdout
        return done.returncode, done.stdout, done.stderr

    return run


def zipped(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def not_utf8(data: bytes) -> bytes:
    """The first member's name is marked as UTF-8 and is not."""
    changed = bytearray(data)
    entry = changed.rindex(b"PK\x01\x02")
    changed[entry + 9] |= 0x08
    changed[entry + 46] = 0xE9
    return bytes(changed)


def of_version_71(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[changed.rindex(b"PK\x01\x02") + 6] = 71
    return bytes(changed)


PREDICTIONS = zipped({"pred.txt": b"1 0 1 1"})
DEEP = "d/" * 600
HOSTILE_ZIPS = {
    "no-utf8": not_utf8(PREDICTIONS),
    "version": of_version_71(PREDICTIONS),
    "no-zip": b"",
    "folder-and-file": zipped({"pred.txt/": b"", "pred.txt": b"1 0 1 1"}),
    "file-and-folder": zipped({"pred.txt": b"1 0 1 1", "pred.txt/x": b""}),
    "deep": zipped({f"{DEEP}pred.txt": b"1 0 1 1"}),
    "deep-folders": zipped({"pred.txt": b"1 0 1 1", DEEP: b""}),
}


@pytest.fixture
def dry_run(verb: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DryRun:
    """What the runs of hostile submissions say, by name, and that the good ones before and after them ended well."""

    monkeypatch.setattr(import_module("gen_bundle.dry_run.engines.choose"), "ProcessEngine", ScriptEngine)

    def run(submissions: Sequence[Path], *options: str) -> dict[str, dict[str, str]]:
        Bundle().write(tmp_path / "bundle")
        first, last = (write_zip(tmp_path / f"{name}.zip", GOOD) for name in ("before", "later"))
        given = [word for name in (first, *submissions, last) for word in ("--submission", name)]
        code, printed, _ = verb("dry-run", "bundle", *given, "--engine", "process", "--trust", "--json", *options)
        before, *hostile, later = json.loads(printed)["runs"]
        assert (before["status"], later["status"]) == ("Finished", "Finished")
        assert code == (0 if {one["status"] for one in hostile} == {"Finished"} else 1)
        assert len(hostile) == len(submissions)
        return {one["submission"]: {key: str(value) for key, value in one.items()} for one in hostile}

    return run


@pytest.mark.slow
def test_metadata_of_a_submission_ends_no_dry_run(dry_run: DryRun, tmp_path: Path) -> None:
    sent = [write_zip(tmp_path / f"{name}.zip", {**GOOD, "metadata": text}) for name, text in METADATA.items()]
    assert {name: run["status"] for name, run in dry_run(sent).items()} == dict.fromkeys(METADATA, "Finished")
    runs = dry_run(sent, "--platform-version", "1.25")
    assert {name: (run["status"], run["message"]) for name, run in runs.items()} == dict.fromkeys(
        METADATA, ("Failed", "Bad or empty zip file")
    )


@pytest.mark.slow
def test_a_hostile_zip_ends_no_dry_run(dry_run: DryRun, tmp_path: Path) -> None:
    for name, data in HOSTILE_ZIPS.items():
        (tmp_path / f"{name}.zip").write_bytes(data)
    runs = dry_run([tmp_path / f"{name}.zip" for name in HOSTILE_ZIPS])
    assert {name: run["status"] for name, run in runs.items()} == dict.fromkeys(HOSTILE_ZIPS, "Failed")
    assert [name for name, run in runs.items() if "Bad or empty zip file" not in run["message"]] == []


@pytest.mark.slow
def test_output_below_a_thousand_folders_ends_no_dry_run(verb: Callable[..., Said], tmp_path: Path) -> None:
    scorer = "import os\nos.chdir('../output')\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\n"
    Bundle(scorer).write(tmp_path / "bundle")
    write_zip(tmp_path / "team.zip", GOOD)
    code, printed, _ = verb("dry-run", "bundle", "--submission", "team.zip", "--engine", "process", "--trust", "--json")
    assert code == 1
    assert json.loads(printed)["runs"][0]["status"] == "Failed"


@pytest.mark.parametrize("name", HOSTILE_ZIPS)
def test_a_hostile_zip_is_named_by_the_ranking(name: str, verb: Callable[..., Said], tmp_path: Path) -> None:
    folder = small_competition(tmp_path)
    submissions = tmp_path / "all"
    submissions.mkdir()
    (submissions / "hostile.zip").write_bytes(HOSTILE_ZIPS[name])
    given = ("--submissions", submissions, "--data", folder / "data", "--phase", "test")
    code, _, said = verb("rank", folder, *given)
    assert code == 2
    assert "hostile.zip" in said


DATES = ["2026-01-01 10:00:00+25:00", "12 Jan 2026 10:00 +99:00", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"]


@pytest.mark.slow
@pytest.mark.parametrize("date", DATES)
def test_an_odd_date_ends_neither_check_nor_preview(date: str, verb: Callable[..., Said], tmp_path: Path) -> None:
    odd = write_bundle(tmp_path / "odd.zip", lambda content: content["phases"][0].update(start=date))
    write_bundle(tmp_path / "plain.zip")
    code, printed, _ = verb("check", odd, "plain.zip", "--json")
    assert code in (0, 1)
    assert [json.loads(line)["path"] for line in printed.splitlines()] == [str(odd), "plain.zip"]
    assert verb("preview", odd)[0] == 0


def test_a_bug_is_the_item_that_it_meets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gen_bundle.check import check_path

    def buggy(path: Path, **known: object) -> object:
        if path.name == "second.zip":
            raise KeyError("surprise")
        return check_path(path)

    monkeypatch.setattr(sys.modules["gen_bundle.check"], "check_path", buggy)
    paths = [write_bundle(tmp_path / f"{name}.zip") for name in ("first", "second", "third")]
    done = gen_bundle("check", "--json", *paths)
    assert done.returncode == 3
    assert len(done.stdout.splitlines()) == 2
    assert f"{paths[1]}: a bug in gen-bundle: KeyError: 'surprise'" in done.stderr


@pytest.mark.parametrize("debug", [False, True])
def test_the_last_resort_is_a_few_lines(debug: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def buggy() -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("gen_bundle.cli.list.known_competitions", buggy)
    monkeypatch.setenv("GEN_BUNDLE_DEBUG", "1" if debug else "")
    done = gen_bundle("list")
    said = done.stderr
    assert done.returncode == 3
    assert "KeyError: 'surprise'" in said
    assert ("Traceback" in said) is debug
    assert debug or ("cli/list.py, line" in said and "GEN_BUNDLE_DEBUG=1" in said and len(said.splitlines()) == 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("preview", "bundle.zip"),
        ("dry-run", "small", "--submission", "team.zip", "--engine", "process", "--trust"),
        ("my-task",),
    ],
)
def test_a_full_disk_is_said(arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file may grow beyond a block, which ends a write as a full disk does, also for root."""
    monkeypatch.setattr(ScoringPackage, "opened", opened_anew)  # a fork has no hold of those that run
    write_bundle(tmp_path / "bundle.zip")
    Bundle().write(tmp_path / "small")
    write_zip(tmp_path / "team.zip", GOOD)
    small_competition(tmp_path)
    page = tmp_path / "preview" / "index.html"
    page.parent.mkdir()
    page.write_text('<meta name="generator" content="gen-bundle preview">', encoding="utf-8")

    def limited() -> None:
        sys.dont_write_bytecode = True  # or it is cut off, too
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        main(arguments)

    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with Fork(limited, cwd=tmp_path, restore_signals=False, **pipes) as process:
        _, said = process.communicate()
    assert process.returncode in (1, 2)
    assert "Traceback" not in said
    assert "File too large" in said
    assert page.read_text(encoding="utf-8").endswith('preview">'), "the page of before is still whole"
    assert not list(tmp_path.glob("**/.*.tmp"))


def test_a_page_of_somebody_else_is_kept(verb: Callable[..., Said], tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle.zip")
    (tmp_path / "preview").mkdir()
    (tmp_path / "preview" / "index.html").write_text("<h1>My site</h1>", encoding="utf-8")
    code, _, said = verb("preview", "bundle.zip")
    assert code == 2
    assert "is not a preview" in said
    assert (tmp_path / "preview" / "index.html").read_text(encoding="utf-8") == "<h1>My site</h1>"
    assert verb("preview", "bundle.zip", "--out", "page")[0] == 0
    assert verb("preview", "bundle.zip", "--out", "page")[0] == 0, "our own page is replaced"


@pytest.mark.parametrize(
    ("word", "meant"),
    [("dryrun", "dry-run"), ("lst", "list"), ("Check", "check"), ("clpsych25", "clpsych2025"), ("foo", None)],
)
def test_a_misspelt_verb_is_suggested(word: str, meant: str | None, verb: Callable[..., Said]) -> None:
    for more in ((), ("bundle.zip",), ("--out", "x")):
        code, _, said = verb(word, *more)
        assert code == 2
        assert "is neither a verb nor a competition" in said
        assert (f"Did you mean {meant!r}?" in said) is (meant is not None)
        assert meant is not None or all(name in said for name in VERBS)


@pytest.mark.slow
def test_out_of_separate_bundles_has_a_default(verb: Callable[..., Said], tmp_path: Path) -> None:
    small_competition(tmp_path)
    assert verb("my-task", "--layout", "separate")[0] == 0
    assert verb("my-task", "--layout", "separate", "--task", "classification")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"my-task", "my-task-bundles", "my-task-classification.zip"}


def mutations(data: bytes, seed: int) -> bytes:
    """The bytes with some changed, cut or doubled."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[place] = chance.randrange(256)
            case 1:
                changed[place : place + 4] = chance.randbytes(4)
            case 2:
                del changed[place : place + chance.randint(1, 30)]
            case _:
                changed[place:place] = changed[max(0, place - 20) : place]
    return bytes(changed)


YAML_PIECES = [*"[{'\"\n\t", "- ", "&a ", "*a", "<<: ", ": ", "  ", "!!int ", "0x", "2026-01-01 ", "+99:99"]


def odd_yaml(text: str, seed: int) -> str:
    """The text with YAML's own marks strewn into it."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(text))
        text = text[:place] + chance.choice(YAML_PIECES) * chance.choice((1, 1, 2, 600)) + text[place:]
    return text


@pytest.mark.slow
@pytest.mark.parametrize("seed", sweep(range(40), range(0, 40, 4)))
def test_whatever_is_sent_each_item_gets_its_verdict(seed: int, verb: Callable[..., Said], tmp_path: Path) -> None:
    whole = write_bundle(tmp_path / "whole.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "whole.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    (tmp_path / "damaged.zip").write_bytes(mutations(whole, seed))
    members["competition.yaml"] = odd_yaml(members["competition.yaml"].decode(), seed).encode()
    (tmp_path / "odd.zip").write_bytes(zipped(members))
    code, printed, _ = verb("check", "damaged.zip", "odd.zip", "whole.zip", "--json")
    assert code in (0, 1)
    assert len(printed.splitlines()) == 3
    for name in ("damaged.zip", "odd.zip"):
        assert verb("preview", name, "--out", f"page-{name}")[0] in (0, 2)
        assert verb("import", name, "--out", f"project-{name}")[0] in (0, 1, 2)
        assert verb("dry-run", name, "--engine", "process", "--trust", "--out", f"run-{name}")[0] in (0, 1, 2)


@pytest.mark.slow
def test_damaged_submissions_in_a_dry_run(dry_run: DryRun, tmp_path: Path) -> None:
    sent = [tmp_path / f"seed-{seed}.zip" for seed in range(8)]
    for seed, path in enumerate(sent):
        files = {"pred.txt": b"1 0 1 1"}
        if seed % 2:
            files["metadata"] = odd_yaml("command: python3 x.py\nother: [a, b]\n", seed).encode()
        path.write_bytes(zipped(files) if seed % 2 else mutations(zipped(files), seed))
    runs = dry_run(sent)
    assert {name: run["status"] for name, run in runs.items() if run["status"] not in ("Finished", "Failed")} == {}
