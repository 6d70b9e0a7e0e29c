"""Whatever a bundle says, the build of its project says the same."""

import tempfile
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gen_bundle.author.importing.opening import Imported
from tests.generator.author.importing.round_trip import round_trip, written
from tests.generator.check.drafts import Draft, packed, png

Drawn = st.DrawFn
TRICKY = ["yes", "1e3", "null", "12:30", "0o17", "1_000", "2031-01-01", "# a", "a: b", "- a", "{{ x }}", "{% x", "!!x"]
LINE = st.sampled_from(TRICKY) | st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=20
)
TEXT = LINE | st.lists(LINE | st.just(""), max_size=4).map("\n".join)
KEY = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,10}[a-z]", fullmatch=True)
NAME = st.from_regex(r"[a-z][A-Za-z0-9_-]{0,8}(\.[a-z]{1,4})?", fullmatch=True)
FLAGS = (
    *("registration_auto_approve", "enable_detailed_results", "show_detailed_results_in_submission_panel"),
    *("show_detailed_results_in_leaderboard", "auto_run_submissions", "can_participants_make_submissions_public"),
    *("make_programs_available", "make_input_data_available", "forum_enabled"),
)
RULES = ("Add", "Add_And_Delete", "Add_And_Delete_Multiple", "Force_Last", "Force_Latest_Multiple", "Force_Best")
KINDS = ("competition", "benchmark")
FILES = st.dictionaries(NAME, st.binary(max_size=30), max_size=3)


def maybe(draw: Drawn, **choices: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Some of the keys, each with a value."""
    return {key: draw(values) for key, values in choices.items() if draw(st.booleans())}


class Parts:
    """The files of a bundle in the making: each is a folder or a zip, and may be named again."""

    def __init__(self, draw: Drawn) -> None:
        self.draw = draw
        self.files: dict[str, bytes] = {}
        self.names: list[str] = []

    def part(self, files: Mapping[str, bytes]) -> str:
        """The path of a program or data with these files."""
        if self.names and self.draw(st.integers(0, 3)) == 0:
            return self.draw(st.sampled_from(self.names))
        name = f"part{len(self.names)}"
        if not files or self.draw(st.booleans()):
            name += ".zip"
            self.files[name] = packed(dict(files))
        else:
            self.files |= {f"{name}/{file}": data for file, data in files.items()}
        self.names.append(name)
        return name

    def program(self) -> str:
        return self.part({"metadata.yaml": b"command: python3 score.py\n", **self.draw(FILES)})

    def data(self) -> str:
        return self.part(self.draw(FILES))

    def some(self, **makers: Any) -> dict[str, str]:
        """Some of the keys, each with a part."""
        return {key: make() for key, make in makers.items() if self.draw(st.booleans())}


def a_task(draw: Drawn, parts: Parts, index: int) -> dict[str, Any]:
    return {
        "index": index,
        "name": draw(LINE),
        "scoring_program": parts.program(),
        **maybe(draw, description=TEXT, ingestion_only_during_scoring=st.booleans()),
        **parts.some(reference_data=parts.data, input_data=parts.data, ingestion_program=parts.program),
    }


def a_phase(draw: Drawn, parts: Parts, number: int, tasks: list[int]) -> dict[str, Any]:
    day = date(2031, 1, 1) + timedelta(days=30 * number)
    limit = st.integers(0, 1000) | st.none()
    return {
        "index": number,
        "name": draw(LINE),
        "start": draw(st.sampled_from([day, f"{day} 12:30:00", f"{day}T08:15:30", f"{day:%B %d, %Y}"])),
        "tasks": draw(st.lists(st.sampled_from(tasks), max_size=3, unique=True)),
        **maybe(draw, end=st.just(f"{day + timedelta(days=29)} 23:59:59"), description=TEXT),
        **maybe(draw, max_submissions=limit, max_submissions_per_day=limit, execution_time_limit=st.integers(1, 9999)),
        **maybe(draw, hide_output=st.booleans(), hide_prediction_output=st.booleans(), hide_score_output=st.booleans()),
        **maybe(draw, auto_migrate_to_this_phase=st.just(number > 0)),
        **parts.some(public_data=parts.data, starting_kit=parts.data),
    }


def a_column(draw: Drawn, key: str, index: int, others: list[int]) -> dict[str, Any]:
    column: dict[str, Any] = {"key": key, "title": draw(LINE), "index": index}
    column |= maybe(draw, precision=st.integers(-2, 12), hidden=st.booleans(), sorting=st.sampled_from(["asc", "desc"]))
    is_computed = draw(st.booleans())
    if others and is_computed:
        column["computation"] = draw(st.sampled_from(["avg", "sum", "min", "max", "avg_rank"]))
        column["computation_indexes"] = draw(st.lists(st.sampled_from(others), min_size=1, max_size=3))
    return column


def a_board(draw: Drawn) -> dict[str, Any]:
    keys = draw(st.lists(KEY, min_size=1, max_size=4, unique=True))
    indexes = draw(st.lists(st.integers(0, 9), min_size=len(keys), max_size=len(keys), unique=True))
    columns = []
    for place, (key, index) in enumerate(zip(keys, indexes, strict=True)):
        columns.append(a_column(draw, key, index, indexes[:place]))
    board = {"title": draw(LINE), "key": draw(KEY), "columns": columns}
    return board | maybe(
        draw, primary_index=st.sampled_from(indexes), submission_rule=st.sampled_from(RULES), hidden=st.booleans()
    )


@st.composite
def a_bundle(draw: Drawn) -> Draft:
    """A bundle of the new format that Codabench may or may not accept, with nothing in it that is lost."""
    parts = Parts(draw)
    tasks = [
        a_task(draw, parts, index) for index in draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True))
    ]
    indexes = [task["index"] for task in tasks]
    phases = [a_phase(draw, parts, number, indexes) for number in range(draw(st.integers(1, 3)))]
    texts = draw(st.dictionaries(NAME, TEXT.filter(str.strip), min_size=1, max_size=3))
    pages = [{"title": draw(LINE), "file": f"pages/{name}"} for name in texts]
    question = st.fixed_dictionaries({"type": st.just("text"), "title": LINE, "is_required": st.booleans()})
    yaml = {
        "version": 2,
        "title": draw(LINE),
        "image": "logo.png",
        "terms": "terms.md",
        "pages": pages,
        "tasks": tasks,
        "phases": phases,
        "leaderboards": [a_board(draw)],
        **maybe(draw, **dict.fromkeys(FLAGS, st.booleans())),
        **maybe(draw, description=TEXT, reward=LINE, contact_email=st.just("me@lab.org"), queue=st.just("")),
        **maybe(draw, docker_image=st.just("lab/image:1"), competition_type=st.sampled_from(KINDS)),
        **maybe(draw, fact_sheet=st.dictionaries(KEY, question, min_size=1, max_size=2)),
    }
    if draw(st.booleans()):
        solved = draw(st.lists(st.sampled_from(indexes), max_size=2, unique=True))
        yaml["solutions"] = [{"path": parts.data(), "tasks": solved, **maybe(draw, name=LINE, description=TEXT)}]
    files = {f"pages/{name}": text.encode() for name, text in texts.items()}
    return Draft(yaml, {"logo.png": png(), "terms.md": b"Be fair.\n", **files, **parts.files})


@settings(max_examples=8, deadline=None, phases=[Phase.generate])  # shrinking would take minutes
@given(a_bundle())
def test_the_build_of_its_project_is_the_same(draft: Draft) -> None:
    with tempfile.TemporaryDirectory() as name:
        bundle = written(draft, Path(name))
        imported, differences = round_trip(bundle, Path(name))
        assert (imported, differences) == (Imported(imported.original, faults=imported.faults), [])
