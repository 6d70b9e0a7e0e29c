"""Bundles close to one another, with the verdict that the platform's own libraries lead to."""

import io
from pathlib import Path
from typing import Any

import pytest

from tests.generator.check.drafts import (
    SECOND_TASK,
    Edit,
    both,
    command,
    delete,
    first_phase,
    first_task,
    new,
    old,
    png,
    put,
    write,
)


def verdict(edit: Edit, folder: Path, base: Any = new) -> str | None:
    """`refused`, or what happens after the upload."""
    report = base(edit).check(folder)
    return report.later if report.accepted else "refused"


def noise() -> bytes:
    """A PNG whose pixels fill some kilobytes."""
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((60, 60), 50).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("path", "as_data", "as_page", "as_image"),
    [
        ("..", "broken", "refused", "refused"),
        ("../ref", "refused", "refused", "refused"),
        ("../../etc/hostname", "broken", "broken", "refused"),
        ("/etc/hostname", "broken", "broken", "refused"),
        ("/etc", "broken", "refused", "refused"),
        ("/ref", "refused", "refused", "refused"),
        ("ref/../ref", "ok", "refused", "refused"),
        ("nope/../ref", "refused", "refused", "refused"),
    ],
)
def test_paths_are_followed_from_the_folder_of_the_bundle(
    path: str, as_data: str, as_page: str, as_image: str, tmp_path: Path
) -> None:
    assert verdict(first_task(reference_data=path), tmp_path) == as_data
    assert verdict(put("pages", 0, "file", path), tmp_path) == as_page
    assert verdict(put("terms", path), tmp_path) == as_page
    assert verdict(put("image", path), tmp_path) == as_image


@pytest.mark.parametrize(("cut", "expected"), [(8, "ok"), (13, "ok"), (100, "refused"), (2000, "refused")])
def test_a_picture_that_was_cut_off_is_refused_where_pixels_are_lost(cut: int, expected: str, tmp_path: Path) -> None:
    """The last 12 bytes of a PNG are its end mark, which is not needed to resize it."""
    assert verdict(write("logo.png", noise()[:-cut]), tmp_path) == expected


def test_a_picture_whose_pixels_have_a_wrong_checksum_is_taken(tmp_path: Path) -> None:
    data = bytearray(png())
    data[-13] ^= 1
    assert verdict(write("logo.png", bytes(data)), tmp_path) == "ok"


@pytest.mark.parametrize(("date", "expected"), [("0001-01-01", "refused"), ("0001-01-02", "broken")])
def test_an_old_phase_ends_a_day_before_the_next_one_and_not_before_the_year_1(
    date: str, expected: str, tmp_path: Path
) -> None:
    second = {"phasenumber": 2, "label": "B", "start_date": date, "scoring_program": "scoring.zip"}
    assert verdict(put("phases", 2, second), tmp_path, old) == expected


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (put("auto_run_submission", False), "trap"),  # submissions run by themselves unless the right key says no
        (put("make_program_available", False), "ok"),
        (put("has_registration", False), "trap"),  # registration needs approval unless the new key says otherwise
        (first_phase(has_max_submissions=False), "trap"),
        (put("collaborators", []), "ok"),
    ],
)
def test_an_unread_false_matters_where_the_platform_assumes_true(edit: Edit, expected: str, tmp_path: Path) -> None:
    assert verdict(edit, tmp_path) == expected


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("competition_docker_image",), "docker_image is read"),
        (("Contact-Email",), "contact_email is read"),
        (("phases", 0, "label"), "name is read"),
        (("leaderboards", 0, "columns", 0, "numeric_format"), "precision is read"),
    ],
)
def test_old_and_misspelt_keys_are_named_with_the_right_one(place: tuple[Any, ...], said: str, tmp_path: Path) -> None:
    (finding,) = new(put(*place, "x")).check(tmp_path).findings
    assert finding.id == "key-ignored"
    assert said in finding.what


def test_what_only_codalab_read_is_one_warning(tmp_path: Path) -> None:
    ignored = (put(key, True) for key in ("anonymous_leaderboard", "hide_chart", "allow_teams"))
    in_phase = {"color": "white", "leaderboard_management_mode": "hide_results"}
    draft = old(*ignored, *(put("phases", 1, key, value) for key, value in in_phase.items()))
    warnings = [finding for finding in draft.check(tmp_path).findings if finding.severity == "warning"]
    assert [finding.id for finding in warnings] == ["key-ignored"]
    assert "anonymous_leaderboard, hide_chart, allow_teams; in phase 1 leaderboard_management_mode" in warnings[0].what


def test_a_solution_of_a_task_that_no_phase_runs_is_shown_nowhere(tmp_path: Path) -> None:
    draft = new(SECOND_TASK, put("solutions", [{"index": 0, "tasks": [1], "path": "ref"}]))
    assert "solution-of-no-task" in [finding.id for finding in draft.check(tmp_path).findings]


def test_a_metric_is_named_with_the_title_that_gives_it_away(tmp_path: Path) -> None:
    edit = put("leaderboards", 0, "columns", 0, "title", "RMSE")
    assert "points (RMSE)" in new(edit).check(tmp_path).findings[0].what


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("python3 /app/program/score.py ; echo done", "trap"),
        ("python3 /app/program/score.py; echo done", "broken"),
        ("python3 /app/program/../program/score.py", "ok"),
        ("python3 ../program/score.py", "ok"),
        ("python3 /app/score.py", "broken"),
        ("python3 /score.py", "broken"),
        ("python3 /app/input/ref/score.py", "ok"),
        ("python3 /opt/image/other.py", "ok"),
        ("python3", "broken"),
        ("python3 --version", "ok"),
        ("python3 /app/program", "broken"),
        ('bash -c "cd /app/program; python3 nope.py"', "broken"),
        ('bash -c "cd /app/program && python3 score.py"', "ok"),
        ('bash -c "cd /opt; python3 nope.py"', "ok"),
        ("|\n  python3 /app/program/score.py\n  echo done", "trap"),
        ("|\n  pip install numpy\n  python3 /app/program/score.py", "broken"),
        ("|\n  python3 /app/program/score.py\n  /app/input /app/output", "ok"),
        (">\n  python3\n  /app/program/score.py", "ok"),
    ],
)
def test_commands_as_the_worker_runs_them(line: str, expected: str, tmp_path: Path) -> None:
    assert verdict(command(line), tmp_path) == expected


def test_a_folder_with_a_main_is_run(tmp_path: Path) -> None:
    edit = both(command("python3 /app/program"), write("scoring/__main__.py", b""), delete("scoring/score.py"))
    assert verdict(edit, tmp_path) == "ok"


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [
        (("pages", 0, "title"), "{{ title }}", "trap"),
        (("leaderboards", 0, "title"), "TODO", "trap"),
        (("title",), "${TITLE}", "trap"),
        (("description",), "Predict ${x}$ and __all__ of {it}", "ok"),
        (("title",), "Task [B]: detection", "ok"),
    ],
)
def test_placeholders_in_what_people_read(place: tuple[Any, ...], text: str, expected: str, tmp_path: Path) -> None:
    assert verdict(put(*place, text), tmp_path) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Accuracy", "trap"), ("Recall at 1", "trap"), ("Accuracy drop", "ok"), ("1 - accuracy", "ok"), ("F1 std", "ok")],
)
def test_a_turned_metric_has_no_direction_of_its_own(title: str, expected: str, tmp_path: Path) -> None:
    edit = put("leaderboards", 0, "columns", 0, {"title": title, "key": "points", "index": 0, "sorting": "asc"})
    assert verdict(edit, tmp_path) == expected


def test_old_columns_of_no_leaderboard_may_share_a_key(tmp_path: Path) -> None:
    lost = {"leaderboard": {"label": "Elsewhere"}, "title": "lost"}
    edit = both(
        put("leaderboard", "columns", "a", lost), put("leaderboard", "columns", "b", {**lost, "label": "x" * 40})
    )
    assert verdict(edit, tmp_path, old) == "ok"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("a@example.org", "ok"),
        ("a@localhost", "ok"),
        ("a@[127.0.0.1]", "ok"),
        ("a@bücher.example", "ok"),
        ("a@example.org0", "refused"),
        ("a@example.xn--p1ai", "ok"),
        ("a@127.0.0.1", "refused"),
        ("a@example", "refused"),
    ],
)
def test_addresses_as_django_takes_them(address: str, expected: str, tmp_path: Path) -> None:
    assert verdict(put("contact_email", address), tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Win $500 or $200.", "trap"),
        ("See ![the plan](plan.png).", "trap"),
        ("See [the plan](https://example.org/plan.png); $n = 5$.", "ok"),
    ],
)
def test_descriptions_of_phases_are_markdown_too(text: str, expected: str, tmp_path: Path) -> None:
    assert verdict(first_phase(description=text), tmp_path) == expected


def test_html_pages_show_formulas_as_well(tmp_path: Path) -> None:
    page = both(put("pages", 0, "file", "a.html"), write("a.html", b"<p>Win $500 or $200.</p>"))
    assert verdict(page, tmp_path) == "trap"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("open('/app/input/ref/gold.csv')", "trap"),
        ("# once read '/app/input/ref/gold.csv'\nopen('/app/input/ref/truth.txt')", "ok"),
        ("path = '/app/input/ref/gold.csv'\nif os.path.exists(path): open(path)", "ok"),
    ],
)
def test_reference_files_that_a_scorer_cannot_do_without(source: str, expected: str, tmp_path: Path) -> None:
    assert verdict(write("scoring/score.py", source.encode()), tmp_path) == expected
