"""Bundles close to one another, with the verdict that the platform's own libraries lead to."""

import io
from pathlib import Path
from typing import Any

import pytest

from tests.generator.check.drafts import Edit, both, command, delete, new, old, png, put, write


def verdict(edit: Edit, folder: Path, base: Any = new) -> str | None:
    """`refused`, or what happens after the upload."""
    draft = base()
    edit(draft)
    report = draft.check(folder)
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
    assert verdict(put("tasks", 0, "reference_data", path), tmp_path) == as_data
    assert verdict(put("pages", 0, "file", path), tmp_path) == as_page
    assert verdict(put("terms", path), tmp_path) == as_page
    assert verdict(put("image", path), tmp_path) == as_image


@pytest.mark.parametrize("cut", [8, 13, 100, 2000])
def test_a_picture_that_was_cut_off_is_refused(cut: int, tmp_path: Path) -> None:
    assert verdict(write("logo.png", noise()[:-cut]), tmp_path) == "refused"


def test_a_picture_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    data = bytearray(png())
    data[-13] ^= 1  # in the checksum of the pixels
    assert verdict(write("logo.png", bytes(data)), tmp_path) == "refused"


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
    assert verdict(edit, tmp_path, old) == "trap"


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
    assert verdict(put("phases", 0, "description", text), tmp_path) == expected


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
