"""What a run leaves that failed: the page that the platform shows, a short log, and never a score."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from gen_bundle.build.package.programs import program_description
from gen_bundle.build.package.resolve import resolve
from scoring_kit import frame
from scoring_kit.errors import Problems, SubmissionError
from scoring_kit.models.loading import progress
from tests.generator.competition import small_competition
from tests.scoring_programs.scoring_kit.test_frame import GOLD, Case
from tests.scoring_programs.scoring_kit.test_frame import case as case

NOT_YOURS = "This is not the submission's fault; please inform the organisers."
LOG_LINES, LOG_BYTES = 100, 10_000


def words(page: str | None) -> str:
    """What a reader reads of a page below its title."""
    assert page is not None
    assert "Content-Security-Policy" in page
    body = page.split("</header>")[1]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body))).strip()


def test_a_refused_submission_is_told_every_problem_in_the_log_and_on_the_page(case: Case) -> None:
    case.predict("id,label\nt1,<b>happy</b>\nt9,positive\n")
    case.predict("x", "__MACOSX/._predictions.csv")
    outcome = case.run()
    assert (outcome.exit_code, outcome.scores) == (1, None)
    assert outcome.stderr.splitlines() == [
        "The submission cannot be scored: 3 problems found.",
        'predictions.csv:2: unknown label "<b>happy</b>". Expected: one of negative, neutral, positive.',
        'predictions.csv:3: unknown id "t9". Expected: ids of this phase\'s data alone.',
        'predictions.csv: no row for 2 of 3 ids: "t2", "t3". Expected: one row for each id of the data.',
        "3 problems found, so nothing was scored.",
    ]
    assert "__MACOSX" in outcome.stdout  # what was ignored is often why something else is missing
    said = words(outcome.page)
    assert all(line in said for line in [*outcome.stderr.splitlines(), *outcome.stdout.splitlines()])
    assert "<b>happy" not in (outcome.page or "")


@pytest.mark.parametrize(("gold", "place"), [(GOLD, "gold.csv:4"), ("", "gold.csv: ")], ids=["a label", "nothing"])
def test_wrong_gold_is_the_organisers_and_no_participant_sees_more(case: Case, gold: str, place: str) -> None:
    case.gold(gold)
    outcome = case.run()
    assert outcome.exit_code == 2
    assert "organisers must act" in outcome.stderr
    assert place in outcome.stderr
    assert "CANARY" not in outcome.stderr + outcome.stdout
    assert words(outcome.page) == NOT_YOURS


def test_a_bug_shows_where_but_never_values(case: Case) -> None:
    case.scorer("{}[reference.labels['t1'] + ' CANARY']")
    outcome = case.run()
    assert (outcome.exit_code, outcome.scores) == (3, None)
    assert "classification.py" in outcome.stderr
    assert "KeyError" in outcome.stderr
    assert "CANARY" not in outcome.stderr + outcome.stdout
    assert "positive" not in outcome.stderr
    assert words(outcome.page) == NOT_YOURS


def test_the_whole_traceback_is_for_debugging_alone(case: Case) -> None:
    case.scorer("{}[reference.labels['t1'] + ' CANARY']")
    outcome = case.run({"SCORING_DEBUG": "1"})
    assert "KeyError: 'positive CANARY'" in outcome.stderr
    assert words(outcome.page) == NOT_YOURS
    assert "CANARY" not in (outcome.page or "")


def packed(tmp_path: Path) -> list[str]:
    """A program whose submission is refused; returns the arguments of a run."""
    competition = resolve(small_competition(tmp_path))
    program = tmp_path / "program"
    program.mkdir()
    (program / "program.json").write_text(json.dumps(program_description(competition, competition.tasks)))
    (tmp_path / "input").mkdir()
    return [str(tmp_path / "input"), str(tmp_path / "output")]


def test_no_page_can_be_written_and_the_status_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = packed(tmp_path)
    (tmp_path / "output").write_text("a file in the place of the folder")
    assert frame.main(tmp_path / "program", arguments) == 3
    assert "NotADirectoryError" in capsys.readouterr().err


def test_no_score_of_an_earlier_run_stays_beside_the_page(tmp_path: Path) -> None:
    arguments = packed(tmp_path)
    output = tmp_path / "output"
    output.mkdir()
    for name in ("scores.json", "scores.txt", "details.json", "notes.txt"):
        (output / name).write_text("{}")
    assert frame.main(tmp_path / "program", arguments) == 2
    assert sorted(path.name for path in output.iterdir()) == ["detailed_results.html", "notes.txt"]


def test_a_program_without_description_leaves_a_page(tmp_path: Path) -> None:
    arguments = packed(tmp_path)
    (tmp_path / "program" / "program.json").write_text("{")
    assert frame.main(tmp_path / "program", arguments) == 2
    assert words((tmp_path / "output" / "detailed_results.html").read_text(encoding="utf-8")) == NOT_YOURS


def test_a_log_stays_short_however_much_is_wrong(case: Case) -> None:
    long = "ü" * 500
    case.predict("id,label\n" + "".join(f"t1,{long}{i}\n" for i in range(1_000)))
    for number in range(200):
        case.predict("x", f"{'ö' * 60}{number}/.DS_Store")
    outcome = case.run()
    assert outcome.exit_code == 1
    printed = outcome.stdout + outcome.stderr
    assert len(printed.encode()) < LOG_BYTES
    assert printed.count("\n") < LOG_LINES
    assert outcome.stderr.splitlines()[-1] == "1001 problems found, so nothing was scored."


def test_the_same_problem_of_a_file_that_several_tables_read_is_one() -> None:
    problems = Problems()
    for _ in range(2):
        problems.error("result.json:283", "not valid JSON", "valid JSON")
        problems.error("result.json", "is encoded as UTF-16", "UTF-8")
    problems.error("result.json:284", "not valid JSON", "valid JSON")
    (valid, _), found = problems.errors, problems.found
    assert (found, valid.rpartition(". ")[2]) == (3, "The same in 1 more line: 284.")


def test_many_long_warnings_and_problems_stay_short() -> None:
    problems = Problems()
    for number in range(1_000):
        problems.error(f"file{number}", "€" * 5_000, "less")
        problems.warn(f"file{number}", "€" * 300)
    with pytest.raises(SubmissionError) as refused:
        problems.stop_if_any()
    lines = [*problems.warning_lines(), *refused.value.report().splitlines()]
    assert len("\n".join(lines).encode()) < LOG_BYTES
    assert len(lines) < LOG_LINES
    assert re.fullmatch(r"… and \d+ more warnings\.", problems.warning_lines()[-1])
    counted = re.search(r"… and (\d+) more\.", refused.value.report())
    assert counted is not None
    assert int(counted[1]) + sum(line.startswith("file") for line in lines) == 1_000


def test_many_mistakes_of_the_organisers_stay_short(case: Case) -> None:
    case.gold("id,label\n" + "".join(f"t{i},{'x' * 400}\n" for i in range(1_000)))
    outcome = case.run()
    assert outcome.exit_code == 2
    assert len(outcome.stderr.encode()) < LOG_BYTES
    assert len(outcome.stderr.splitlines()) < LOG_LINES


def test_a_deep_bug_stays_short(case: Case) -> None:
    case.scorer("score(reference, submission, options)")
    outcome = case.run()
    assert outcome.exit_code == 3
    assert len(outcome.stderr.splitlines()) < LOG_LINES
    assert outcome.stderr.splitlines()[-1] == "  RecursionError"


def test_the_progress_of_hours_stays_short(capsys: pytest.CaptureFixture[str]) -> None:
    now = iter(range(100_000))
    with progress("Embedding", 36_000, "texts", lambda: float(next(now))) as advance:
        for _ in range(36_000):
            advance(1)
    assert 10 < len(capsys.readouterr().err.splitlines()) < 50


def test_the_scores_come_last(case: Case) -> None:
    assert [line.split(":")[0] for line in case.run().stdout.splitlines()[-2:]] == ["macro_f1", "accuracy"]
