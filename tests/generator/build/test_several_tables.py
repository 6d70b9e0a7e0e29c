"""Several tables and several tasks: what each program of each layout, and the validator of its kit, say of whom."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.client import ScoringPackage
from gen_bundle.build.render import starting_kit
from gen_bundle.ground.resources import resource
from gen_bundle.ground.zips.writing import zipped
from scoring_kit import frame
from tests.generator.after.report.declared_task import declared_task
from tests.generator.build.looking import built, command, members
from tests.yaml_text import dumped, loaded

pytestmark = pytest.mark.usefixtures("kept_organisers")

LAYOUTS = ["joint", "tasks", "separate"]
BUILT = [("joint", "csv"), ("tasks", "csv"), ("separate", "jsonl")]
ID = {"field": "id", "type": "string"}
LABEL = {"field": "label", "type": "label"}
NUMBER = {"field": "n", "type": "number"}
FORMATS = {
    "csv": lambda names, rows: "".join(",".join(map(str, row)) + "\n" for row in [names, *rows]),
    "jsonl": lambda names, rows: "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows),
}
ROWS = [("1", "a", 1), ("2", "b", 2), ("3", "a", 4)]
Sent = Mapping[str, str]


def table(file: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"file": file, "key": "id", "reference": {"file": file}, "fields": [ID, *fields]}


def competition(folder: Path, submission: Any, metrics: Mapping[str, Any], **more: Any) -> Path:
    """Two phases, each with the gold `ROWS`, and the tasks one and two, a column each."""
    phases = [
        {"id": "both", "name": "Both", "start": "2096-01-01 AoE", "end": "2096-02-01 AoE"},
        {"id": "some", "name": "Some", "start": "2096-02-02 AoE", "tasks": ["one"], "data": "both"},
    ]
    tasks = [
        {"id": task, "name": task.title(), "columns": [{"key": f"of_{task}", "metric": metric}]}
        for task, metric in metrics.items()
    ]
    return declared_task(folder / "c", submission, [], phases=phases, tasks=tasks, **more)


def two_tables(folder: Path, suffix: str) -> Path:
    one, two = f"one.{suffix}", f"two.{suffix}"
    made = competition(
        folder,
        {"tables": {"first": table(one, LABEL), "second": table(two, NUMBER)}},
        {"one": {"name": "accuracy", "table": "first"}, "two": {"name": "mae", "table": "second"}},
    )
    for file, content in (*sent(suffix, one="one").items(), *sent(suffix, two="two").items()):
        (made / "data/both").mkdir(parents=True, exist_ok=True)
        (made / "data/both" / file).write_text(content, encoding="utf-8")
    (made / "data/baselines/both/half").mkdir(parents=True)
    (made / "data/baselines/both/half" / one).write_text(
        FORMATS[suffix](["id", "label"], [(row[0], "a") for row in ROWS]), encoding="utf-8"
    )
    return made


def sent(suffix: str, **names: str) -> dict[str, str]:
    """Right answers to a table, under a file name without its suffix."""
    columns = {"one": ("label", 1), "two": ("n", 2)}
    return {
        f"{name}.{suffix}": FORMATS[suffix](["id", columns[of][0]], [(row[0], row[columns[of][1]]) for row in ROWS])
        for of, name in names.items()
    }


def shared_table(folder: Path, suffix: str) -> Path:
    """One table, whose label is task one's, and whose number only task two needs, which reads both."""
    file = f"answers.{suffix}"
    made = competition(
        folder,
        {"file": file, "key": "id", "fields": [ID, LABEL, NUMBER]},
        {"one": {"name": "accuracy", "field": "label"}, "two": {"name": "exact_match", "fields": ["label", "n"]}},
        reference={"file": file},
    )
    (made / "data/both").mkdir(parents=True)
    (made / "data/both" / file).write_text(FORMATS[suffix](["id", "label", "n"], ROWS), encoding="utf-8")
    return made


def shared(suffix: str, *columns: str) -> dict[str, str]:
    names = ["id", *columns]
    rows = [[dict(zip(("id", "label", "n"), row, strict=True)).get(name, "x") for name in names] for row in ROWS]
    return {f"answers.{suffix}": FORMATS[suffix](names, rows)}


class Bundles:
    """The bundles of each competition in each layout, built once: what packed programs and kits are made of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, str, str], list[bytes]] = {}

    def of(self, make: Callable[[Path, str], Path], suffix: str, layout: str) -> list[bytes]:
        key = make.__name__, suffix, layout
        if key not in self._known:
            work = self._folder / "-".join(key)
            work.mkdir()
            out = work / ("bundles" if layout == "separate" else "b.zip")
            bundles = build(BuildRequest(str(make(work, suffix)), out, layout=layout))
            self._known[key] = [bundle.path.read_bytes() for bundle in bundles]
        return self._known[key]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    return Bundles(tmp_path_factory.mktemp("bundles"))


def outcomes(bundles: list[bytes], layout: str, submission: Sent, work: Path) -> dict[str, Any]:
    """`phase/part` → the scores that its program writes, or its exit status; `valid …` → whether the kit says so."""
    found: dict[str, Any] = {}
    for bundle in bundles:
        files = members(bundle)
        document = loaded(files["competition.yaml"])
        tasks = {task["index"]: task for task in document["tasks"]}
        for phase in document["phases"]:
            for index in phase["tasks"]:
                task, name = tasks[index], f"{phase['id']}/{tasks[index]['id']}"
                for part, into in (("scoring_program", "program"), ("reference_data", "input/ref")):
                    zipfile.ZipFile(io.BytesIO(files[task[part]])).extractall(work / name / into)
                found[name] = scored(work / name, submission)
            whose = f"{phase['id']}/{task['id']}" if layout == "separate" else phase["id"]
            found[f"valid {whose}"] = valid(members(files[phase["starting_kit"]])["validate.pyz"], submission)
    return found


def scored(place: Path, submission: Sent) -> Any:
    (place / "input/res").mkdir()
    for name, content in submission.items():
        (place / "input/res" / name).write_text(content, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        status = frame.main(place / "program", [str(place / "input"), str(place / "output")])
    if status:
        assert status == 1, said.getvalue()
        return status
    return json.loads((place / "output/scores.json").read_text(encoding="utf-8"))


def valid(validator: bytes, submission: Sent) -> bool:
    content = zipped({name: text.encode() for name, text in submission.items()})
    package = ScoringPackage("declared", resource("scoring_programs"))
    ((verdict,),) = starting_kit.validator_verdicts([(validator, [content])], package)
    return verdict.valid


WORST = {"one": 0.0, "two": 1e9}


def expected(layout: str, of_one: Any, of_two: Any, worst: Mapping[str, float]) -> dict[str, Any]:
    """What programs write: a score for each task, None where it is not entered; 1, the exit status, of a refusal."""
    values = {"of_one": of_one, "of_two": of_two}
    filled = {key: worst[key[3:]] if value is None else value for key, value in values.items()}
    nothing = of_one is None and of_two is None
    if layout == "joint":
        found = {"both/joint": 1 if nothing else filled}
        found["some/joint"] = 1 if of_one is None else {**filled, "of_two": worst["two"]}
        return found | {"valid both": not nothing, "valid some": of_one is not None}
    if layout == "separate":
        found = {
            f"both/{task}": 1 if value is None else {f"of_{task}": value}
            for task, value in (("one", of_one), ("two", of_two))
        }
        found |= {"some/one": found["both/one"]}
        return found | {f"valid {name}": found[name] != 1 for name in found}
    of_tasks = {
        task: 1 if nothing else {**{f"of_{other}": worst[other] for other in worst}, f"of_{task}": filled[f"of_{task}"]}
        for task in ("one", "two")
    }
    found = {"both/one": of_tasks["one"], "both/two": of_tasks["two"], "some/one": of_tasks["one"]}
    return found | {"valid both": not nothing, "valid some": not nothing}


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "suffix"), BUILT)
@pytest.mark.parametrize(
    ("names", "one", "two"),
    [
        ({"one": "one", "two": "two"}, 1.0, 0.0),
        ({"one": "one"}, 1.0, None),
        ({"two": "two"}, None, 0.0),
        ({}, None, None),
    ],
    ids=["all", "one", "two", "none"],
)
def test_each_program_scores_its_own_tables(
    layout: str, suffix: str, names: dict[str, str], one: Any, two: Any, bundles: Bundles, tmp_path: Path
) -> None:
    submission = {"notes.md": "Hello", **sent(suffix, **names)}
    found = outcomes(bundles.of(two_tables, suffix, layout), layout, submission, tmp_path)
    assert found == expected(layout, one, two, WORST)


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "suffix"), BUILT)
@pytest.mark.parametrize(
    ("columns", "one", "two"),
    [(("label", "n"), 1.0, 1.0), (("label",), 1.0, None), (("other", "label"), 1.0, None)],
    ids=["all", "one", "one and a further column"],
)
def test_a_table_of_two_tasks_enters_those_whose_columns_are_there(
    layout: str, suffix: str, columns: tuple[str, ...], one: Any, two: Any, bundles: Bundles, tmp_path: Path
) -> None:
    found = outcomes(bundles.of(shared_table, suffix, layout), layout, shared(suffix, *columns), tmp_path)
    worst = {"one": 0.0, "two": 0.0}
    wanted = expected(layout, one, two, worst)
    if layout == "separate" and two is None:
        wanted |= {"both/two": 1, "valid both/two": False}
    assert found == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "suffix"), [((), "csv"), (("Label",), "csv"), (("n",), "csv"), (("labels", "m"), "jsonl")]
)
def test_a_table_without_a_whole_task_is_refused(
    columns: tuple[str, ...], suffix: str, bundles: Bundles, tmp_path: Path
) -> None:
    found = outcomes(bundles.of(shared_table, suffix, "joint"), "joint", shared(suffix, *columns), tmp_path)
    assert found == {"both/joint": 1, "some/joint": 1, "valid both": False, "valid some": False}


@pytest.mark.slow
@pytest.mark.parametrize("gold", ["secret", "public"])
def test_the_gold_of_another_task_is_hidden_where_it_is_secret(gold: str, tmp_path: Path) -> None:
    folder = two_tables(tmp_path, "csv")
    declared = loaded((folder / "bundle.yaml").read_text(encoding="utf-8"))
    declared["phases"] = [{**declared["phases"][0], "gold": gold}]
    (folder / "bundle.yaml").write_text(dumped(declared), encoding="utf-8")
    (folder / "data/public/both").mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "data/both/two.csv", folder / "data/public/both/shown.csv")
    assert built(folder, layout="separate", task="one", force=True).leaks == (gold == "secret")


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_task_is_ranked_by_itself(suffix: str, tmp_path: Path) -> None:
    folder = two_tables(tmp_path, suffix)
    for team, files in (("whole", sent(suffix, one="one", two="two")), ("half", sent(suffix, one="one"))):
        (tmp_path / "teams" / team).mkdir(parents=True)
        for name, content in files.items():
            (tmp_path / "teams" / team / name).write_text(content, encoding="utf-8")
    for task in ("one", "two"):
        teams = ["--submissions", tmp_path / "teams", "--data", folder / "data", "--phase", "both"]
        done = command("rank", folder, *teams, "--task", task, "--json")
        assert done.exit_code == (0 if task == "one" else 1), done.output  # one team has nothing for task two
        ranked = {team["team"]: team for team in json.loads(done.stdout)["teams"]}
        assert ranked["whole"][f"{task}_rank"] == 1
        assert (ranked["half"].get(f"{task}_rank") is None) is (task == "two")


@pytest.mark.slow
def test_a_baseline_that_one_program_of_a_layout_refuses_stops_the_build(tmp_path: Path) -> None:
    folder = two_tables(tmp_path, "csv")
    (folder / "data/baselines/both/half/two.csv").write_text("id,n\n1,none\n2,2\n3,4\n", encoding="utf-8")
    for layout in LAYOUTS:
        done = command(folder, "--layout", layout, "--out", tmp_path / layout)
        assert done.exit_code == 2
        assert "two.csv:2: n is not a number" in done.stderr


@pytest.mark.slow
def test_an_average_that_would_rank_and_stay_blank_stops_the_build(tmp_path: Path) -> None:
    folder = two_tables(tmp_path, "csv")
    declaration = loaded((folder / "bundle.yaml").read_bytes())
    mean = {"key": "mean", "computation": "avg", "of": ["of_one", "of_two"], "sort": "desc"}
    declaration["tasks"][0]["columns"].insert(0, mean)
    (folder / "bundle.yaml").write_text(dumped(declaration), encoding="utf-8")
    for layout, status in (("joint", 0), ("tasks", 2)):
        done = command(folder, "--layout", layout, "--out", tmp_path / f"{layout}.zip")
        assert done.exit_code == status, done.output
        assert ("the primary column mean stays blank in phase Both" in done.stderr) is (status == 2)
