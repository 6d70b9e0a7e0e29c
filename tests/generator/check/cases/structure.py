"""Bundles for the rules on tasks, files, programs, solutions, phases, dates, leaderboards and the fact sheet."""

from gen_bundle.check import DryRun
from tests.generator.check.drafts import (
    LATER_PHASE,
    SCORER,
    SECOND_TASK,
    TWO_TASKS,
    Case,
    Edit,
    both,
    command,
    delete,
    drop,
    first_phase,
    first_task,
    packed,
    public,
    put,
    replace,
    secret,
    two_phases,
    unpacked,
    with_options,
    write,
)

KEY = "e654788a-0597-4b60-8a05-ac1787dba46b"
SOLUTION = both(put("solutions", [{"index": 0, "tasks": [0], "path": "sol"}]), write("sol/pred.txt", b"a\na\na\n"))
COLUMNS = ("leaderboards", 0, "columns")
MEAN = {"title": "Mean", "key": "mean", "index": 2, "computation": "avg", "computation_indexes": [0, 1]}
QUESTION = {
    "key": "q",
    "type": "select",
    "title": "Which?",
    "selection": ["a", "b"],
    "is_required": "true",
    "is_on_leaderboard": "false",
}


def column(**values: object) -> Edit:
    """A third column, the mean of the others, with other values."""
    return put(*COLUMNS, [*COLUMN_LIST, {**MEAN, **values}])


COLUMN_LIST = [{"title": "Points", "key": "points", "index": 0}, {"title": "More", "key": "more", "index": 1}]


def columns(*more: dict[str, object]) -> Edit:
    """The two columns and more."""
    return put(*COLUMNS, [*COLUMN_LIST, *more])


def question(**values: object) -> Edit:
    """A fact sheet of one question with other values."""
    return put("fact_sheet", {"q": {**QUESTION, **values}})


IN_DATA = both(write("data/ref/truth.txt", b"c\nd\n"), first_task(reference_data="data/ref/"))


def zipped_as(name: str) -> Edit:
    """Reference data in a folder, and those of a second task in a zip."""
    folder = both(TWO_TASKS, IN_DATA, first_task(reference_data="data/ref"))
    return both(folder, write(name, packed({"truth.txt": b"a\nb\nb\n"})), put("tasks", 1, "reference_data", name))


def ingestion(arguments: str) -> Edit:
    """An ingestion program with arguments."""
    line = f"command: python3 $program/run.py {arguments}\n"
    program = both(write("ingestion/metadata", line), write("ingestion/run.py", b""))
    return both(first_task(ingestion_program="ingestion"), program)


RANK = {**MEAN, "title": "Rank", "key": "rank", "computation": "avg_rank", "sorting": "asc"}
RANKED = put("leaderboards", 0, "primary_index", 2)
BEST = put("leaderboards", 0, "submission_rule", "Force_Best")
WITHOUT_INPUTS = {key: value for key, value in MEAN.items() if key != "computation_indexes"}

SCORED = {
    "id": [f"s{number:02}" for number in range(20)],
    "language": [("en", "de", "fr")[number % 3] for number in range(20)],
    "mmse": [("7", "12.5", "20", "28")[number * number % 7 % 4] for number in range(20)],
}
ROWS = tuple(zip(*SCORED.values(), strict=True))
SORTED = "".join(f"{row[0]}\n" for row in sorted(ROWS, key=lambda row: (float(row[2]), row[0]))).encode()
GOLD_TABLE = both(
    delete("ref/truth.txt"),
    write("ref/gold.csv", "".join(",".join(row) + "\n" for row in (tuple(SCORED), *ROWS)).encode()),
    public("items.csv", "".join(",".join(row[:2]) + "\n" for row in (tuple(SCORED), *ROWS)).encode()),
)


CASES = {
    "tasks-no-list": Case(put("tasks", {"0": {}})),
    "task-without-index": Case(drop("tasks", 0, "index")),
    "task-index-twice": Case(
        both(SECOND_TASK, put("tasks", 1, "index", 0.0)), both(SECOND_TASK, first_phase(tasks=[0, 1]))
    ),
    "task-without-scoring-program": Case(drop("tasks", 0, "scoring_program"), drop("tasks", 0, "reference_data")),
    "task-key-unknown": Case(first_task(key=KEY), both(first_task(key=KEY), with_options(known_keys=[KEY]))),
    "task-unused": Case(SECOND_TASK, TWO_TASKS),
    "task-names-equal": Case(both(TWO_TASKS, put("tasks", 1, "name", "One")), TWO_TASKS),
    "ingestion-only-during-scoring": Case(
        first_task(ingestion_program="scoring", ingestion_only_during_scoring=True),
        first_task(ingestion_program="scoring", ingestion_only_during_scoring="no"),
    ),
    "solutions-no-list": Case(put("solutions", {"a": 1}), put("solutions", {})),
    "solution-key-missing": Case(both(SOLUTION, drop("solutions", 0, "path")), SOLUTION),
    "solution-of-unknown-task": Case(both(SOLUTION, put("solutions", 0, "tasks", ["0"])), SOLUTION),
    "solution-key-unknown": Case(
        both(SOLUTION, put("solutions", 0, "key", KEY)),
        both(SOLUTION, put("solutions", 0, "key", KEY), with_options(known_keys=[KEY])),
    ),
    "solution-of-no-task": Case(both(SOLUTION, put("solutions", 0, "tasks", [])), SOLUTION),
    "data-path-no-text": Case(first_task(reference_data=None), first_task(reference_data="ref/")),
    "data-not-found": Case(first_task(scoring_program="Scoring"), first_task(scoring_program="./scoring")),
    "data-key-unknown": Case(
        first_task(reference_data=KEY), both(first_task(reference_data=KEY), with_options(known_keys=[KEY]))
    ),
    "data-whole-bundle": Case(first_phase(starting_kit=""), first_phase(starting_kit="ref/../scoring")),
    "data-of-the-server": Case(first_task(reference_data="/etc/hostname"), first_task(reference_data="ref")),
    "data-no-zip": Case(
        both(first_task(reference_data="r.zip"), write("r.zip", packed({"truth.txt": b"a"})[:-30])),
        both(first_task(reference_data="r.zip"), write("r.zip", packed({"truth.txt": b"a"}))),
    ),
    "download-no-zip": Case(
        both(first_phase(public_data="p.zip"), write("p.zip", b"no zip")),
        both(first_phase(public_data="p.csv"), write("p.csv", b"no zip")),
    ),
    "reference-data-empty": Case(
        both(delete("ref/truth.txt"), write("ref/README.md", b"Ask us."), write("ref/.gitkeep", b"")),
        both(delete("ref/truth.txt"), write("ref/README.md", b"Ask us."), write("ref/readme_labels.csv", b"a")),
    ),
    "data-empty": Case(both(first_phase(public_data="public"), write("public/", b"")), public("a.txt", b"")),
    # "data/scoring" is zipped into scoring.zip, which the next use of that name finds
    "packed-over": Case(zipped_as("ref.zip"), zipped_as("data/ref.zip")),
    "packed-into": Case(
        both(IN_DATA, write("data/public/a.txt", b"x"), first_phase(public_data="data")),
        both(IN_DATA, write("data/public/a.txt", b"x"), first_phase(public_data="data/public/")),
    ),
    "program-without-metadata": Case(
        both(delete("scoring/metadata.yaml"), write("scoring/metadata.yml", SCORER["metadata.yaml"])),
        both(delete("scoring/metadata.yaml"), write("scoring/metadata", SCORER["metadata.yaml"])),
    ),
    "program-without-command": Case(
        write("scoring/metadata.yaml", b"command:python3 /app/program/score.py\n"),
        write("scoring/metadata.yaml", b"description: x\ncommand: python3 /app/program/score.py\n"),
    ),
    "command-needs-a-shell": Case(
        command("cd /app/program && python3 score.py"), command('bash -c "cd . && python3 score.py"')
    ),
    "command-with-shell-syntax": Case(
        command("python3 /app/program/score.py > log.txt"), command("python3 /app/program/score.py --out log.txt")
    ),
    "command-placeholder": Case(ingestion("$input_data $output"), ingestion("$input $output")),
    "command-script-missing": Case(command("python3 Score.py"), command("python3 -u score.py")),
    "command-folder": Case(
        command("python3 score.py /input /output"), command("python3 score.py /app/input /app/output")
    ),
    "requirements-never-installed": Case(
        write("scoring/requirements.txt", b"numpy\n"),
        both(
            write("scoring/requirements.txt", b"numpy\n"),
            command("bash run.sh"),
            write("scoring/run.sh", b"pip install -r /app/program/requirements.txt && python3 score.py\n"),
        ),
    ),
    "reference-data-absent": Case(
        drop("tasks", 0, "reference_data"),
        both(drop("tasks", 0, "reference_data"), write("scoring/gold.csv", b"id,label\n1,a\n")),
    ),
    "program-not-python-3": Case(
        both(write("scoring/score.py", b"import tools\n"), write("scoring/tools.py", b"print 'scored'\n")),
        both(write("scoring/score.py", b"import tools\n"), write("scoring/other.py", b"print 'scored'\n")),
    ),
    "reference-data-missing": Case(
        write("scoring/score.py", b"open('/app/input/ref/gold.txt')\n"),
        write("scoring/score.py", b"open('/app/input/ref/truth.txt')\n"),
    ),
    "solution-with-metadata": Case(
        both(SOLUTION, write("sol/metadata", b"command: python3 predict.py\n")),
        both(SOLUTION, write("sol/metadata", b"description: mine\n")),
    ),
    "reference-data-wrapped": Case(
        both(first_task(reference_data="r.zip"), write("r.zip", packed({"ref/truth.txt": b"a"}))),
        both(first_task(reference_data="r.zip"), write("r.zip", packed({"ref/a": b"a", "b": b"b"}))),
    ),
    "phases-no-list": Case(put("phases", [])),
    "phase-indexes-mixed": Case(
        both(LATER_PHASE, put("phases", 1, "index", None)), both(LATER_PHASE, drop("phases", 0, "index"))
    ),
    "phase-without-tasks": Case(drop("phases", 0, "tasks")),
    "phase-of-unknown-task": Case(first_phase(tasks=["0"]), first_phase(tasks=[0.0])),
    "phase-tasks-empty": Case(first_phase(tasks=[])),
    "phase-task-order": Case(both(TWO_TASKS, first_phase(tasks=[1, 0])), both(TWO_TASKS, first_phase(tasks=[0, 1, 0]))),
    "data-to-be-packed": Case(
        both(first_task(reference_data="ref.zip"), unpacked), both(first_task(reference_data="ref"), unpacked)
    ),
    "server-export": Case(
        both(first_task(is_public=False), first_phase(solutions=[])),
        both(first_task(is_public=False), first_phase(solutions=[], public_data="p")),
    ),
    "migration-to-first-phase": Case(
        first_phase(auto_migrate_to_this_phase="yes"),
        both(LATER_PHASE, put("phases", 1, "auto_migrate_to_this_phase", True)),
    ),
    "migration-between-tasks": Case(
        both(
            SECOND_TASK,
            LATER_PHASE,
            put("phases", 1, "tasks", [1]),
            put("phases", 1, "auto_migrate_to_this_phase", True),
        ),
        both(LATER_PHASE, put("phases", 1, "auto_migrate_to_this_phase", True)),
    ),
    "time-limit-over-the-queue": Case(first_phase(execution_time_limit=601), first_phase(execution_time_limit="600")),
    "zero-means-no-limit": Case(first_phase(max_submissions=0), first_phase(max_submissions=None)),
    "day-limit-above-total": Case(first_phase(max_submissions=4), first_phase(max_submissions=5)),
    "date-unreadable": Case(first_phase(start="2031-01-01 12:00:00 AoE"), first_phase(start="1 Jan 2031, 12:00")),
    "phase-without-start": Case(first_phase(start="")),
    "phase-without-end": Case(both(LATER_PHASE, drop("phases", 0, "end")), LATER_PHASE),
    "phases-overlap": Case(
        two_phases("2031-02-01 12:00:00", "2031-02-01 12:00:00"),
        two_phases("2031-02-01 12:00:00", "2031-02-01 12:00:01"),
    ),
    "phase-never-open": Case(first_phase(end="2031-01-01 00:00:00"), first_phase(end="2031-01-01 00:00:01")),
    "date-time-dropped": Case(
        replace("'2031-01-01 00:00:00'", "2031-01-01 10:00:00"), replace("'2031-01-01 00:00:00'", "2031-01-01 10:00")
    ),
    "date-zone-dropped": Case(first_phase(start="2031-01-01 10:00 CET"), first_phase(start="2031-01-01 10:00 UTC")),
    "date-misread": Case(
        first_phase(start="05.04.2031"),
        first_phase(start="05.04.2031", end="05/31/2031"),  # the month comes first
    ),
    "competition-over": Case(first_phase(start="2028-01-01", end="2029-01-01"), first_phase(start="2028-01-01")),
    "end-at-midnight": Case(first_phase(end="2031-12-31"), first_phase(end="2031-12-31 00:00:01")),
    "leaderboards-missing": Case(drop("leaderboards")),
    "leaderboards-no-list": Case(put("leaderboards", {"title": "x"})),
    "leaderboards-empty": Case(put("leaderboards", [])),
    "columns-no-list": Case(put(*COLUMNS, [None])),
    "leaderboards-several": Case(lambda draft: draft.yaml["leaderboards"].append(draft.yaml["leaderboards"][0])),
    "primary-column-missing": Case(
        put("leaderboards", 0, "primary_index", 2), put("leaderboards", 0, "primary_index", 1)
    ),
    "columns-all-hidden": Case(
        both(put(*COLUMNS, 0, "hidden", True), put(*COLUMNS, 1, "hidden", True)), put(*COLUMNS, 1, "hidden", True)
    ),
    "primary-column-hidden": Case(put(*COLUMNS, 0, "hidden", True), put(*COLUMNS, 1, "hidden", True)),
    "leaderboard-hidden": Case(put("leaderboards", 0, "hidden", "yes"), put("leaderboards", 0, "hidden", "no")),
    "automatic-rule-with-several-tasks": Case(
        both(TWO_TASKS, put("leaderboards", 0, "submission_rule", "Force_Last")),
        both(TWO_TASKS, put("leaderboards", 0, "submission_rule", "Force_Latest_Multiple")),
    ),
    "best-of-several-tasks": Case(
        both(TWO_TASKS, put("leaderboards", 0, "submission_rule", "Force_Best")),
        put("leaderboards", 0, "submission_rule", "Force_Best"),
    ),
    "computed-with-several-tasks": Case(both(TWO_TASKS, columns(MEAN)), columns(MEAN)),
    "primary-computed-with-several-tasks": Case(both(TWO_TASKS, columns(MEAN), RANKED), both(TWO_TASKS, columns(MEAN))),
    "column-keys-equal": Case(put(*COLUMNS, 1, "key", " points "), put(*COLUMNS, 1, "key", "Points")),
    "column-indexes-equal": Case(put(*COLUMNS, 1, "index", "0"), put(*COLUMNS, 1, "index", 10)),
    "computation-without-inputs": Case(columns({**WITHOUT_INPUTS, "computation": None}), columns(MEAN)),
    "computation-inputs-wrong": Case(column(computation_indexes=[0.0]), column(computation_indexes=["0,1"])),
    "computation-of-nothing": Case(column(computation_indexes=[]), column(computation=None, computation_indexes=[])),
    "computed-from-computed": Case(
        columns(MEAN, {**MEAN, "title": "T", "key": "t", "index": 3, "computation_indexes": [2]}), columns(MEAN)
    ),
    "average-rank-descending": Case(both(columns({**RANK, "sorting": "desc"}), RANKED), both(columns(RANK), RANKED)),
    "average-rank-blank": Case(columns({**RANK, "hidden": True}), columns(RANK)),
    "average-rank-incomplete": Case(both(columns(RANK), put(*COLUMNS, 1, "hidden", True)), columns(RANK)),
    "average-rank-best": Case(both(columns(RANK), RANKED, BEST), both(columns(RANK), BEST)),
    "column-id": Case(put(*COLUMNS, 0, "id", "acc"), put(*COLUMNS, 0, "id", 0)),
    "precision-negative": Case(put(*COLUMNS, 0, "precision", -1), put(*COLUMNS, 0, "precision", 0)),
    "precision-zero": Case(put(*COLUMNS, 0, "precision", "0"), put(*COLUMNS, 0, "precision", 1)),
    "computation-input-twice": Case(column(computation_indexes=[0, 1, "0"]), column(computation_indexes=[0, 1])),
    "metric-sorted-the-wrong-way": Case(
        put(*COLUMNS, 0, "title", "Train time"),
        both(put(*COLUMNS, 0, "title", "RMSE"), put(*COLUMNS, 0, "sorting", "asc")),
    ),
    "column-never-written": Case(
        with_options(dry_run=DryRun([frozenset({"points"})])),
        with_options(dry_run=DryRun([frozenset({"points"}), frozenset({"more"})])),
    ),
    "primary-never-written": Case(
        with_options(dry_run=DryRun([frozenset({"more"})])), with_options(dry_run=DryRun([frozenset({"points"})]))
    ),
    "computed-key-written": Case(
        both(columns(MEAN), with_options(dry_run=DryRun([frozenset({"points", "more", "mean"})]))),
        both(columns(MEAN), with_options(dry_run=DryRun([frozenset({"points", "more"})]))),
    ),
    "score-without-column": Case(
        with_options(dry_run=DryRun([frozenset({"points", "more", "extra"})])),
        with_options(dry_run=DryRun([frozenset({"points", "more"})])),
    ),
    "log-too-long": Case(
        with_options(dry_run=DryRun(logs=[(10, 100), (301, 2000)])), with_options(dry_run=DryRun(logs=[(300, 10_240)]))
    ),
    "fact-sheet-no-json": Case(
        replace("title: A small task", "title: A small task\nfact_sheet: {q: 2031-01-01}"), question()
    ),
    "fact-sheet-no-mapping": Case(put("fact_sheet", ["q"]), put("fact_sheet", [])),
    "fact-sheet-question-keys": Case(question(help="x"), question()),
    "fact-sheet-key-differs": Case(question(key="p"), put("fact_sheet", {1: {**QUESTION, "key": 1}})),
    "fact-sheet-type": Case(question(type="textarea"), question(type="text", selection="")),
    "fact-sheet-switch-ignored": Case(question(is_required=True), question(is_required=False)),
    "fact-sheet-select-without-choices": Case(question(selection=""), question(type="text", selection="")),
    "leak": Case(public("train.txt", b"a\nb\na\n"), public("train.txt", b"a\nb\nb\n")),
    "not-looked-into": Case(
        public("data.7z", b"7z\xbc\xaf\x27\x1c" + bytes(30)), public("data.zip", packed({"a.csv": b"a,b\n"}))
    ),
    "leak-suspected": Case(
        both(GOLD_TABLE, write("public/sorted.csv", SORTED)),
        both(GOLD_TABLE, write("public/sorted.csv", SORTED[::-1][:60])),
    ),
    "secret-not-there": Case(
        secret({"name": "truth.txt", "lines": True}, {"name": "glod.csv", "key": ["id"], "columns": ["label"]}),
        secret({"name": "truth.txt", "lines": True}),
    ),
    "reference-is-shown": Case(first_phase(public_data="ref"), public("a.txt", b"more\n")),
    "versions-kept": Case(public("code/.git/index", b"more\n"), public("backup/a.txt", b"more\n")),
    "reference-is-input": Case(first_task(input_data="ref"), first_task(input_data="scoring")),
    "leak-behind-a-switch": Case(
        write("scoring/truth.txt", b"a\nb\na\n"), both(write("scoring/truth.txt", b"a\na\na\n"))
    ),
}
