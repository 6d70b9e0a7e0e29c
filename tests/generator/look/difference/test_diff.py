"""The differences of two bundles: each kind of change with what it does on the platform, and nothing else."""

import json
import time
import zipfile
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.cli import root
from gen_bundle.cli.diff import diff
from gen_bundle.ground.errors import UserError
from gen_bundle.look.difference.changes import Difference, Effect
from gen_bundle.look.difference.report import as_text, differences
from scoring_kit.base.scoring_keys import NOT_SCORING
from tests.generator.check.drafts import packed
from tests.generator.competition import small_competition
from tests.generator.look.preview.bundles import write_bundle
from tests.scoring_programs.declared.gold_changes import GOLD_CHANGES, gold_of_change, options_of_change
from tests.shared import recorded_uploads

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def _here_is_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def compare(
    folder: Path,
    change: Change = lambda _: None,
    files: dict[str, bytes] | None = None,
    before: Change = lambda _: None,
) -> list[Difference]:
    """The differences between the small bundle and itself after a change."""
    old = write_bundle(folder / "old.zip", before)
    new = write_bundle(folder / "new.zip", lambda top: (before(top), change(top)), files)
    return diff(str(old), str(new))


def between(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> list[Difference]:
    """The differences between small bundles with these files."""
    paths = [write_bundle(folder / name, files=files) for name, files in (("a", old), ("b", new))]
    return diff(str(paths[0]), str(paths[1]))


def ours(content: dict[str, Any]) -> bytes:
    """A program of ours, with that program.json."""
    return packed({"metadata.yaml": b"command: python3 score.py\n", "program.json": json.dumps(content).encode()})


def brief(differences: list[Difference]) -> list[tuple[object, ...]]:
    """Everything of the differences but their details."""
    return [(one.part, one.item, one.what, one.effect.key, one.old, one.new) for one in differences]


QUESTION = {
    "key": "method",
    "type": "text",
    "title": "Method",
    "selection": "",
    "is_required": "false",
    "is_on_leaderboard": "false",
}


def said(question: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(question.items()))


CHANGES: dict[str, tuple[Change, list[tuple[object, ...]]]] = {
    "title": (
        lambda top: top.update(title="Large task"),
        [("competition", "", "title", "shown", "Tiny <task>", "Large task")],
    ),
    "image": (
        lambda top: top.update(docker_image="python:3.13"),
        [("competition", "", "docker_image", "edit", "python:3.12", "python:3.13")],
    ),
    "a default that is written out": (lambda top: top.update(forum_enabled=True), []),
    "a truth value in other words": (lambda top: top.update(forum_enabled="yes"), []),
    "question": (
        lambda top: top.update(fact_sheet={"method": QUESTION}),
        [("competition", "", "fact_sheet", "edit", None, f"method: {said(QUESTION)}")],
    ),
    "date": (
        lambda top: top["phases"][0].update(end="2026-01-31 11:59:59"),
        [
            (
                *("phases", "Development", "end", "shown"),
                "2026-02-01 11:59:59 UTC (2026-01-31 23:59 AoE, 2026-02-01 12:59 CET here)",
                "2026-01-31 11:59:59 UTC (2026-01-30 23:59 AoE, 2026-01-31 12:59 CET here)",
            )
        ],
    ),
    "the same date in other words": (lambda top: top["phases"][0].update(end="1 February 2026 11:59:59"), []),
    "limit": (
        lambda top: top["phases"][0].update(max_submissions_per_day=0),
        [("phases", "Development", "submissions per day", "edit", "3", "no limit")],
    ),
    "time limit": (
        lambda top: top["phases"][0].update(execution_time_limit=900),
        [("phases", "Development", "time limit per run (s)", "edit", "600", "900")],
    ),
    "renamed phase": (
        lambda top: top["phases"][0].update(name="Trial"),
        [("phases", "Trial", "name", "shown", "Development", "Trial")],
    ),
    "tasks of a phase": (
        lambda top: top["phases"][0].update(tasks=[0, 1]),
        [("phases", "Development", "tasks", "fixed", "Count", "Count; Name")],
    ),
    "renamed task": (
        lambda top: top["tasks"][0].update(name="Tally"),
        [("tasks", "Tally", "name", "shown", "Count", "Tally")],
    ),
    "removed phase": (lambda top: top["phases"].pop(0), [("phases", "Development", "removed", "fixed", None, None)]),
    "rule": (
        lambda top: top["leaderboards"][0].update(submission_rule="Add"),
        [("leaderboard", "", "submission rule", "edit", "Force_Best", "Add")],
    ),
    "decimals": (
        lambda top: top["leaderboards"][0]["columns"][0].update(precision=5),
        [("leaderboard", "f1", "decimals", "shown", "3", "5")],
    ),
    "key": (
        lambda top: top["leaderboards"][0]["columns"][0].update(key="macro_f1"),
        [
            ("leaderboard", "", "ranked by", "shown", "f1", "macro_f1"),
            ("leaderboard", "macro_f1", "key", "rerun", "f1", "macro_f1"),
        ],
    ),
    "new column": (
        lambda top: top["leaderboards"][0]["columns"].append({"key": "em", "title": "EM", "index": 7}),
        [("leaderboard", "em", "added", "rerun", None, None)],
    ),
    "new computed column": (
        lambda top: top["leaderboards"][0]["columns"].append(
            {"key": "all", "title": "All", "index": 7, "computation": "avg", "computation_indexes": [0, 1]}
        ),
        [("leaderboard", "all", "added", "shown", None, None)],
    ),
    "solution": (lambda top: top.pop("solutions"), [("solutions", "Zeros", "removed", "shown", None, None)]),
    "starting kit": (
        lambda top: top["phases"][0].pop("starting_kit"),
        [("starting kits", "Development", "removed", "shown", None, None)],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_declared_change_is_one_difference(tmp_path: Path, name: str) -> None:
    change, expected = CHANGES[name]
    assert brief(compare(tmp_path, change)) == expected


def test_pages_are_compared_line_by_line(tmp_path: Path) -> None:
    (one,) = compare(tmp_path, files={"terms.md": b"# Terms\r\n\r\nBe very kind.\r\n"})
    assert (one.part, one.item, one.what, one.effect.key) == ("pages", "Terms", "text (1 line out, 1 in)", "shown")
    assert one.detail == ("-Be kind.", "+Be very kind.")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"id,label\n1,a\n2,b\n3,c\n", b"id,label\n3,c\n1,b\n4,a\n5,a\n", "2 added, 1 removed, 1 changed"),
        (b'{"x": "a", "y": "b"}', b'{"y": "c", "x": "a"}', "0 added, 0 removed, 1 changed"),
        (b'[{"id": 1, "l": "a"}]', b'[{"id": 1, "l": "a"}, {"id": 2, "l": "a"}]', "1 added, 0 removed, 0 changed"),
        (b'{"id": 1}\n{"id": 2}\n', b'{"id": 2}\n{"id": 3}\n', "1 added, 1 removed, 0 changed"),
        (b"a\na\nb\n", b"a\nb\nb\n", "1 added, 1 removed"),
        (b"id,label\n1,a\n", b"id,label\r\n1,a\r\n", "written differently, the same items: no score changes"),
        (b"a\nb\n", b"b\na\n", "0 added, 0 removed, in another order"),
        (b"id,l\n1,a\n2,b\n", b"id,l\n2,b\n1,a\n", "written differently, the same items: no score changes"),
        (b"", b"a\n", "1 added, 0 removed"),
        (b"\0\1\2", b"\0\1\3", "other bytes"),
        (b"id,label\n1,caf\xe9\n", b"id,label\n1,caf\xe8\n", "other bytes"),
    ],
)
def test_reference_data_give_counts_alone(tmp_path: Path, old: bytes, new: bytes, expected: str) -> None:
    found = between(tmp_path, {"ref/gold.txt": old}, {"ref/gold.txt": new})
    effect = "keep" if "no score" in expected else "rerun"
    assert {(one.part, one.what, one.effect.key) for one in found} == {("reference data", "gold.txt", effect)}
    assert {one.detail for one in found} == {(expected,)}


@pytest.mark.parametrize(
    ("key", "old", "new", "expected"),
    [
        (["id"], b"num,id\n1.5,a\n2.5,b\n3,c\n", b"num,id\n99,a\n98,b\n3,c\n", "0 added, 0 removed, 2 changed"),
        (
            ["doc", "place"],
            b"x,doc,place\n1,a,1\n2,a,2\n3,b,1\n",
            b"x,doc,place\n9,a,1\n2,a,2\n3,b,2\n",
            "1 added, 1 removed, 1 changed",
        ),
        (["doc"], b"doc,x\na,1\na,2\n", b"doc,x\na,1\na,1\n", "1 added, 1 removed"),
        (7, b"num,id\n1.5,a\n2.5,b\n", b"num,id\n99,a\n2.5,b\n", "1 added, 1 removed, 0 changed"),
    ],
)
def test_the_declared_key_says_which_items_are_the_same(
    tmp_path: Path, key: object, old: bytes, new: bytes, expected: str
) -> None:
    table = {"id": "table", "key": key, "fields": [], "gold": {"name": "gold.csv"}}
    program = ours({"options": {"tables": [table], "metrics": {"t": {"f1": {"file": "metrics.py"}}}}})
    found = between(tmp_path, *[{"p.zip": program, "ref/gold.csv": data} for data in (old, new)])
    assert {one.detail for one in found} == {(expected,)}


@pytest.mark.parametrize("name", list(GOLD_CHANGES))
def test_gold_asks_for_reruns_where_its_digest_in_the_signature_changes(name: str, tmp_path: Path) -> None:
    """But a file more always does."""
    before, after = gold_of_change(name)
    sides: list[dict[str, bytes]] = []
    for gold in (before, after):
        sides.append({"p.zip": ours({"options": options_of_change(name, tmp_path)})})
        for file, data in gold.items():
            sides[-1][f"ref/{file}"] = data.encode() if isinstance(data, str) else data
    found = between(tmp_path, *sides)
    effect = "rerun" if GOLD_CHANGES[name][-1] or before.keys() != after.keys() else "keep"
    assert {(one.part, one.effect.key) for one in found} == {("reference data", effect)}


def test_no_word_of_gold_is_shown(tmp_path: Path) -> None:
    gold = b"id,label\n" + b"".join(b"%d,canary%d\n" % (n, n) for n in range(40))
    paths = [
        write_bundle(tmp_path / name, files={"ref/gold.csv": data})
        for name, data in (("a.zip", gold), ("b.zip", gold.replace(b"canary1", b"canary2")))
    ]
    for form in ([], ["--json"]):
        result = CliRunner().invoke(root, ["diff", *map(str, paths), *form])
        assert result.exit_code == 1
        assert "11 changed" in result.output
        assert "canary" not in result.output


def test_settings_of_our_programs_are_named_one_by_one(tmp_path: Path) -> None:
    sides = []
    for options, title in (({"beta": 1}, "F1"), ({"beta": 2, "norm": True}, "F")):
        sides.append({"p.zip": ours({"options": options, "columns": [{"key": "f1", "title": title, "worst": 0}]})})
    found = [one for one in brief(between(tmp_path, *sides)) if one[1] == "Count: scoring program"]
    assert found == [
        ("programs", "Count: scoring program", "options.beta", "rerun", "1", "2"),
        ("programs", "Count: scoring program", "options.norm", "rerun", None, "true"),
        ("programs", "Count: scoring program", "columns.f1.title", "keep", '"F1"', '"F"'),
    ]


def changed_keys(program: dict[str, Any], keys: Set[str]) -> None:
    """Change keys of the whole, of a column or of a table, wherever scoring does not read them."""
    places = {"": program, "columns": program["columns"][0], "options.tables": program["options"]["tables"][0]}
    for place, unread in NOT_SCORING.items():
        places[place].update(dict.fromkeys(keys & unread, "other"))


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda top: top["columns"].pop(1), "keep"),
        (lambda top: top["options"]["metrics"]["t"].pop("acc"), "keep"),
        (lambda top: top["columns"][0].update(worst=-1), "rerun"),
        (lambda top: top["columns"].append({"key": "new"}), "rerun"),
        (lambda top: top["options"]["metrics"]["t"]["f1"].update(average="micro"), "rerun"),
        (lambda top: top.update(score_decimals=2), "rerun"),
        (lambda top: top["columns"].append({"key": "sum", "computation": "sum"}), "keep"),
        (lambda top: top["columns"].append({"key": "new", "computation": None}), "rerun"),
        (lambda top: top["options"]["tables"][1].update(reject_missing=False), "rerun"),
        (lambda top: top["options"]["tables"][0]["fields"][0].update(unit="x"), "rerun"),
        (lambda top: top["options"]["metrics"]["t"]["acc"].update(title="x"), "rerun"),
        *[(partial(changed_keys, keys={key}), "keep") for keys in NOT_SCORING.values() for key in keys],
    ],
)
def test_what_changes_no_written_score_asks_for_no_rerun(
    tmp_path: Path, change: Callable[[Any], object], effect: str
) -> None:
    content: dict[str, Any] = {
        "options": {
            "metrics": {"t": {"f1": {"average": "macro"}, "acc": {}}},
            "tables": [{"id": "unit", "key": ["id"], "fields": [{"id": "y"}]}, {"id": "more", "key": ["id"]}],
        },
        "columns": [{"key": "f1", "worst": 0}, {"key": "acc"}, {"key": "mean", "computation": "avg"}],
        "details_min_items": 5,
    }
    old = {"p.zip": ours(content)}
    change(content)
    found = between(tmp_path, old, {"p.zip": ours(content)})
    assert {one.effect.key for one in found if one.part == "programs"} == {effect}


def test_one_cause_is_one_line(tmp_path: Path) -> None:
    def one(part: str, item: str, what: str, effect: Effect, old: str | None = None) -> Difference:
        return Difference(part, item, what, effect, old, "x" if old else None)

    phases = ("Development", "Test")
    every = [
        one("leaderboard", "f1", "title", Effect.SHOWN, "F1"),
        *(one("programs", f"{p}: scoring program", "options.average", Effect.RERUN, "macro") for p in phases),
        *(one("starting kits", p, "options.average", Effect.SHOWN, "macro") for p in phases),
        *(one("starting kits", p, "README.md", Effect.SHOWN) for p in phases),
    ]
    assert as_text(every).splitlines()[:7] == [
        "programs",
        "  rerun  Development, Test: scoring program: options.average: macro → x "
        "(also in the starting kits of Development, Test)",
        "leaderboard",
        "  shown  f1: title: F1 → x",
        "starting kits",
        "  shown  Development, Test: README.md",
        "",
    ]


@pytest.mark.parametrize("content", [b"[" * 900 + b"]" * 900, b"{", b"7", b'[{"key": 1}]'])
def test_any_program_json_is_only_a_file(tmp_path: Path, content: bytes) -> None:
    files = {"p.zip": packed({"metadata.yaml": b"command: python3 score.py\n", "program.json": content})}
    old, new = write_bundle(tmp_path / "a.zip"), write_bundle(tmp_path / "b.zip", files=files)
    assert {one.part for one in diff(str(old), str(new))} == {"programs"}


def test_command_and_files_of_a_program(tmp_path: Path) -> None:
    files = {"p.zip": packed({"metadata.yaml": b"command: python3 main.py\n", "main.py": b""})}
    found = [one for one in compare(tmp_path, files=files) if one.item == "Count: scoring program"]
    assert [(one.what, one.old, one.new, one.detail) for one in found] == [
        ("command", "command: python3 score.py", "command: python3 main.py", ()),
        ("2 files", None, None, ("+ main.py", "- score.py")),
    ]


def test_a_folder_is_the_same_as_its_zip(tmp_path: Path) -> None:
    zipped = write_bundle(tmp_path / "bundle.zip")
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(tmp_path / "folder")
    result = CliRunner().invoke(root, ["diff", str(zipped), str(tmp_path / "folder")])
    assert (result.exit_code, result.stdout) == (0, "The same.\n")


@pytest.mark.slow
@pytest.mark.usefixtures("kept_organisers")
def test_declarations_are_built_to_be_compared(tmp_path: Path) -> None:
    old = small_competition(tmp_path / "a")
    new = small_competition(tmp_path / "b", lambda top: top["phases"][-1].update(max_submissions=7))
    result = CliRunner().invoke(root, ["diff", str(old), str(new), "--json", "--trust"])
    assert result.exit_code == 1, result.stderr
    found = json.loads(result.stdout)
    assert not found["same"]
    assert {one["part"] for one in found["differences"]} <= {"pages", "phases", "starting kits"}
    (limit,) = (one for one in found["differences"] if one["part"] == "phases")
    assert (limit["what"], limit["new"], limit["effect"]) == ("submissions in all", "7", "edit")


def with_pages(path: Path, pages: dict[str, str]) -> Path:
    """The small bundle with pages of these titles and texts, in this order."""
    listed = [{"title": title, "file": f"{place}.md"} for place, title in enumerate(pages)]
    texts = {f"{place}.md": text.encode() for place, text in enumerate(pages.values())}
    return write_bundle(path, lambda top: top.update(pages=listed), texts)


def test_pages_in_another_order_are_paired_by_titles_without_case_then_by_text(tmp_path: Path) -> None:
    old = with_pages(tmp_path / "old.zip", {"Overview": "Hi.", "data": "Rows.", "RULES": "Be fair.", "prizes": "None."})
    new = with_pages(tmp_path / "new.zip", {"Awards": "None.", "Rules": "Be fair.", "Data": "Many.", "Overview": "Hi."})
    assert brief(diff(str(old), str(new))) == [
        ("pages", "Data", "title", "shown", "data", "Data"),
        ("pages", "Data", "text (1 line out, 1 in)", "shown", None, None),
        ("pages", "Rules", "title", "shown", "RULES", "Rules"),
        ("pages", "Awards", "title", "shown", "prizes", "Awards"),
    ]


def test_text_names_the_effects_and_counts_them(tmp_path: Path) -> None:
    old = write_bundle(tmp_path / "old.zip")
    new = write_bundle(tmp_path / "new.zip", lambda top: top.update(title="Other \x1b[31m", docker_image="a"))
    result = CliRunner().invoke(root, ["diff", str(old), str(new)])
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "competition",
        "  edit   docker_image: python:3.12 → a",
        "  shown  title: Tiny <task> → Other \\x1b[31m",
        "",
        "2 differences:",
        "  shown    1  seen at once when it is saved in the competition's editor",
        "  edit     1  an edit in the competition's editor; it holds for what is submitted afterwards",
    ]


def test_of_two_bundles_that_codabench_refuses_no_verdict_differs(tmp_path: Path) -> None:
    def verdicts(name: str, change: Change, before: Change = lambda _: None) -> list[object]:
        (tmp_path / name).mkdir()
        found = compare(tmp_path / name, change, before=before)
        return [one.old for one in found if one.what == "what Codabench makes of it"]

    assert verdicts("one", lambda top: top.pop("title")) == ["accepted"]
    assert verdicts("both", lambda top: top.pop("phases"), before=lambda top: top.pop("title")) == []


def test_what_is_no_bundle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"nothing")
    bundle = write_bundle(tmp_path / "bundle.zip")
    for other in ("x.zip", "missing.zip", "."):
        result = CliRunner().invoke(root, ["diff", str(bundle), str(tmp_path / other)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert "error:" in result.stderr


@pytest.mark.slow
def test_every_recorded_upload_equals_itself_and_differs_from_the_next() -> None:
    """As `diff` compares them; each is opened twice, and stays open until it is compared with the next."""
    now = datetime.now(UTC)
    with ExitStack() as last_held:
        last: Bundle | None = None
        for upload in recorded_uploads():
            path = upload["path"]
            with ExitStack() as held:
                try:
                    one, same = (open_readable_bundle(path, now, held) for _ in range(2))
                except UserError:
                    assert not upload["accepted"] or upload["format"] == "v1", path
                    continue
                assert differences(one, same) == [], path
                if last is not None:
                    differences(last, one)
                last_held.close()
                last_held.push(held.pop_all())
            last = one
    assert last is not None
