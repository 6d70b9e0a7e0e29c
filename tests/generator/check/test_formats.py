"""The report as JSON, text, SARIF and GitHub annotations."""

import json
from pathlib import Path

from gen_bundle.check.report import Report, github, sarif, text
from tests.generator.check.drafts import drop, new, public, put, unpacked
from tests.generator.check.drafts import text as written

KEYS = ["id", "severity", "file", "line", "column", "what", "consequence", "repair", "source", "first"]


def refused(folder: Path) -> Report:
    """A report with an error, a warning and a note."""
    draft = new(drop("terms"), put("reward", "TODO"), put("published", False), put("title", "a\x1b[31m, b: 100%"))
    return draft.check(folder)


def test_json_is_one_line_with_the_fixed_fields(tmp_path: Path) -> None:
    report = refused(tmp_path)
    text = report.as_json()
    assert "\n" not in text
    said = json.loads(text)
    assert list(said) == ["path", "accepted", "later", "platform_version", "findings"]
    assert (said["path"], said["accepted"], said["later"]) == (str(tmp_path / "bundle.zip"), False, None)
    assert all(list(finding) == KEYS for finding in said["findings"])
    assert [finding["first"] for finding in said["findings"]] == [True, False, False]
    assert [finding["severity"] for finding in said["findings"]] == ["error", "warning", "note"]


def test_positions_count_from_one_and_point_at_the_key(tmp_path: Path) -> None:
    draft = new(written("version: 2\ntitle: A\nphases:\n  - name: P\n    start: 31.13.2031\n    tasks: [0]\n"))
    finding = next(one for one in draft.check(tmp_path).findings if one.id == "date-unreadable")
    assert (finding.file, finding.line, finding.column) == ("competition.yaml", 5, 5)


def test_text_says_verdict_place_consequence_and_repair(tmp_path: Path) -> None:
    lines = list(text(refused(tmp_path)))
    assert lines[0].endswith("bundle.zip: refused by Codabench 1.32: the platform would not create the competition")
    assert lines[1:3] == [
        "  error terms-missing",
        "    competition.yaml:1:1: terms is missing  (what the platform reports first)",
    ]
    assert any("what to do:   Add `terms`" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_what_a_rule_says_is_printed_once(tmp_path: Path) -> None:
    ignored = (put(key, "x") for key in ("collaborators", "whitelist_emails", "secret_key"))
    lines = list(text(new(*ignored).check(tmp_path)))
    assert lines[1] == "  warning key-ignored"
    assert ["is ignored" in line for line in lines[2:5]] == [True, True, True]
    assert [line.split(":")[0].strip() for line in lines[5:]] == ["what happens", "what to do"]


def test_github_escapes_what_would_end_a_command(tmp_path: Path) -> None:
    folder = tmp_path / "a,b"
    folder.mkdir()
    lines = list(github(refused(folder)))
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert all("\n" not in line and "a%2Cb" in line for line in lines)


def test_annotations_of_a_folder_name_the_file_itself(tmp_path: Path) -> None:
    (line,) = github(new(put("reward", "TODO"), unpacked).check(tmp_path))
    assert line.startswith(f"::warning file={tmp_path}/unpacked/competition.yaml,line=30,col=")


def test_sarif_names_rules_levels_and_places(tmp_path: Path) -> None:
    log = json.loads(sarif([refused(tmp_path)], "1.0"))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert log["version"] == "2.1.0"
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    assert all(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"])


def test_of_many_findings_of_a_rule_the_rest_is_counted(tmp_path: Path) -> None:
    draft = new(*(public(f"{number}.kind{number}", b"\x00\x01\x02" * 9) for number in range(25)))
    lines = [line for line in text(draft.check(tmp_path)) if line.startswith("    ")]
    assert sum("is a file of bytes" in line for line in lines) == 20
    assert "    … and 5 more (--json lists all)" in lines
