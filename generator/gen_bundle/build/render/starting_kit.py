"""A phase's starting kit: what participants need to check, pack and score a submission at home."""

import ast
import io
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from jinja2 import Template

from gen_bundle.build.package.client import ScoringPackage, failure
from gen_bundle.build.package.libraries import OWN_LOCK, locks_for
from gen_bundle.build.package.phase_data import TEMPLATE, PhaseData
from gen_bundle.build.package.programs import (
    SAMPLE,
    check_files,
    code_entry,
    empty_submission,
    imported_modules,
    ingestion_members,
    program_members,
    syntax_tree,
)
from gen_bundle.build.package.resolve import Resolved, ids
from gen_bundle.build.render import page_tables
from gen_bundle.build.render.pages import ENVIRONMENT, TEMPLATES, code_text
from gen_bundle.build.render.submission_text import example_text, format_text, gold_text, tables_of
from gen_bundle.declaration.model import DeclaredSubmission
from gen_bundle.declaration.source import mapping_of
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.resources import packages_text, resource
from gen_bundle.ground.starting import environment, python
from gen_bundle.ground.zips.writing import Members, below, write_zip, zipped
from scoring_kit.base.row_files import File
from scoring_kit.base.submissions import is_junk

EXTRAS = "starting_kit"
"""A folder beside bundle.yaml: its files travel in every starting kit."""

MAX_LINES = 8
MAX_BYTES = 5_000_000
"""A larger submission is spoiled in few ways."""
BEGINNING = 10_000
CUT_OFF = "the upload was cut off"
VALIDATOR_FAILED = 3
"""Its exit status where it could not judge, see `scoring_kit.validate`."""
NO_CHECKS: Mapping[str, Path] = {}
SHEBANG = b"#!/usr/bin/env python3\n"

# Runs validators on submissions in one process: from a JSON file [[validator, submission, …], …], it prints
# [[[exit status, what it says], …], …]. Each takes the place of the one before, from which only its manifest differs:
# so the modules that are imported already are its own, too.
DRIVER = """
import contextlib, gc, importlib, io, json, os, pathlib, runpy, sys
gc.set_threshold(1_000_000)  # as in the command: each pass goes over all rows
asked, verdicts = pathlib.Path(sys.argv[1]), []
place, submission = str(asked.with_name("validate.pyz")), str(asked.with_name("submission.zip"))
for validator, *judged in json.loads(asked.read_text(encoding="utf-8")):
    os.replace(validator, place)
    importlib.invalidate_caches()
    verdicts.append([])
    for path in judged:
        os.replace(path, submission)
        sys.argv = [place, submission]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                runpy.run_path(place, run_name="__main__")
            except SystemExit as end:
                verdicts[-1].append([end.code, printed.getvalue()])
print(json.dumps(verdicts))
gc.freeze()  # nor does Python look for cycles as it ends
"""


class ValidatorVerdict(NamedTuple):
    """The validator's verdict on a submission."""

    valid: bool
    text: str


class Spoiled(NamedTuple):
    """A submission with a mistake.

    Attributes:
        name: short name of the mistake.
        what: the mistake in words.
        files: the submission's files.
        message: what the validator says of it, where it is refused.
    """

    name: str
    what: str
    files: Mapping[str, bytes]
    message: str = ""


class _Samples(NamedTuple):
    """The submissions that a phase's validator is tried with.

    Attributes:
        validator: the `validate.pyz`.
        good: template and baselines by name, as zips.
        spoiled: submissions with a mistake.
    """

    validator: bytes
    good: Mapping[str, bytes]
    spoiled: Sequence[Spoiled]


def starting_kits(competition: Resolved, phases: Sequence[PhaseData]) -> dict[str, dict[str, bytes | Path]]:
    """Return each phase's kit: its files by name.

    Raises:
        UserError: a baseline of a phase is not a valid submission, or a package of the organiser's own fails.
        RuntimeError: a scoring package that comes with the tool refuses its own empty template.
    """
    competition = replace(competition, options=competition.public_options)
    samples = [_samples(competition, data) for data in phases]
    asked = []
    for one in samples:
        asked.append((one.validator, [*one.good.values(), *(zipped(spoilt.files) for spoilt in one.spoiled)]))
    verdicts = validator_verdicts(asked, competition.package)
    kits = {}
    for data, one, of_phase in zip(phases, samples, verdicts, strict=True):
        kits[data.phase.id] = _members(competition, data, one, of_phase)
    return kits


def _samples(competition: Resolved, data: PhaseData) -> _Samples:
    """The phase's validator and what it is tried with."""
    manifest = {**data.manifest, "options": competition.options, "code": code_entry(competition)}
    kit = resource("scoring_programs") / "scoring_kit"
    empty = empty_submission(competition, data.template)
    submissions = {**below(f"baselines/{data.phase.data_id}", data.baselines), TEMPLATE: empty}
    spoiled = _spoiled([*submissions.values()], competition.declaration.submission)
    return _Samples(
        validator=validator_bytes(competition.package.folder, kit, manifest, check_files(competition)),
        good={name: zipped(files) for name, files in submissions.items()},
        spoiled=spoiled,
    )


def _members(
    competition: Resolved, data: PhaseData, samples: _Samples, verdicts: Sequence[ValidatorVerdict]
) -> dict[str, bytes | Path]:
    valid, invalid = _examples(samples, verdicts, data, competition)
    template = empty_submission(competition, data.template)
    if competition.takes_code and data.baselines:
        template = next(iter(data.baselines.values()))  # code to begin with
    extras = _extras(competition)
    own_packages, lock = "", competition.folder / OWN_LOCK
    if competition.declaration.requirements and lock.is_file():
        own_packages = lock.read_text(encoding="utf-8")
    is_refused = not verdicts[[*samples.good].index(TEMPLATE)].valid
    readme, form = _texts(competition, data, template, invalid, extras, template_is_refused=is_refused)
    members: dict[str, bytes | Path] = {
        **below("template", template),
        **extras,
        "README.md": readme,
        "FORMAT.md": form,
        "examples/valid.zip": valid,
        "validate.pyz": samples.validator,
    }
    for example in invalid:
        members[f"examples/invalid/{example.name}.zip"] = zipped(example.files)
        members[f"examples/invalid/{example.name}.txt"] = f"{example.message}\n".encode()
    kept = {f"files/{name}" for name in competition.declaration.scoring_files}  # by the organisers
    if competition.takes_code or not kept:
        members["score_locally.py"] = TEMPLATES / "score_locally.py"
        # the image's packages, and those of the competition's own as far as they are locked
        members["requirements.txt"] = packages_text(locks_for(competition), own_packages).encode()
        read_at_home = imported_modules(
            ("scoring_kit.submission_zip",), (resource("scoring_programs") / "scoring_kit",)
        )
        for part in competition.parts_of(data.phase):
            scorer = {**program_members(competition, part), **read_at_home}
            for name in kept:
                del scorer[name]
            members |= below(f"scorer/{part.id}", scorer)
    if competition.takes_code:  # what runs it at home: the ingestion program, and the sample
        members["try.py"] = TEMPLATES / "try.py"
        members |= below("ingestion", ingestion_members(competition, data.phase, data.manifest))
        members |= _sample_members(data)
    return members


def validator_bytes(
    package_folder: Path, kit_folder: Path, manifest: Mapping[str, Any], checks: Mapping[str, Path] = NO_CHECKS
) -> bytes:
    """`validate.pyz`, a zipapp: the package's `submission` module, the kit's `validate` and what these two import.

    It holds nothing else of the scoring program; the bytes are the same for the same content.

    Args:
        package_folder: the scoring package, with its `submission.py`.
        kit_folder: the folder `scoring_kit`.
        manifest: what participants may know (`scoring_kit.manifest.Manifest` as a JSON object), without gold.
        checks: the files of the organisers' own checks, by their names in programs.
    """
    main = Template((TEMPLATES / "validate_main.py.j2").read_text(encoding="utf-8")).render(package=package_folder.name)
    members: dict[str, bytes | Path] = {
        "__main__.py": main.encode(),
        "scoring_kit/NOTICE": kit_folder / "NOTICE",
        "scoring_kit/manifest.json": json.dumps(manifest, ensure_ascii=False, default=str).encode(),
        **below("scoring_kit", checks),
        **imported_modules((f"{package_folder.name}.submission", "scoring_kit.validate"), (package_folder, kit_folder)),
    }
    file = io.BytesIO()
    file.write(SHEBANG)
    write_zip(file, members)
    return file.getvalue()


def _sample_members(data: PhaseData) -> dict[str, bytes | Path]:
    """The sample's files by their names in the kit; empty where the public data have none with input and gold."""
    members = {name: content for name, content in data.public.items() if name.startswith(f"{SAMPLE}/")}
    parts = {name.split("/")[1] for name in members if name.count("/") > 1}
    return members if {"input", "gold"} <= parts else {}


def _examples(
    samples: _Samples, verdicts: Sequence[ValidatorVerdict], data: PhaseData, competition: Resolved
) -> tuple[bytes, list[Spoiled]]:
    """The valid example (the first baseline, or else the empty template), and what is refused with its message."""
    of_good = dict(zip(samples.good, verdicts, strict=False))
    _check_valid(of_good, data, competition)
    first = next(name for name, verdict in of_good.items() if verdict.valid)
    invalid = []
    for one, verdict in zip(samples.spoiled, verdicts[len(of_good) :], strict=True):
        if not verdict.valid:
            invalid.append(one._replace(message=_cut(verdict.text)))
    return samples.good[first], invalid


def _size(content: bytes | Path) -> int:
    return content.stat().st_size if isinstance(content, Path) else len(content)


def _check_valid(verdicts: Mapping[str, ValidatorVerdict], data: PhaseData, competition: Resolved) -> None:
    """Raise what is wrong with baselines and template, by their names; a template of ours is our own bug."""
    has_checks = bool(competition.scoring.checks)
    is_one_valid = any(verdict.valid for verdict in verdicts.values())
    problems = []
    for name, verdict in verdicts.items():
        if verdict.valid or (name == TEMPLATE and is_one_valid and has_checks):
            continue  # a check may ask for more than the emptiest answers
        problems.append(f"{name}: is not a valid submission. {_cut(verdict.text)}")
        if name == TEMPLATE and has_checks:
            where = f"data/baselines/{data.phase.data_id}/NAME/"
            problems.append(f"The kit needs a valid example: put one into {where}.")
        elif name == TEMPLATE and not competition.package.is_own:
            raise RuntimeError(problems[-1])
    raise_all(problems)


def _read(files: Members) -> dict[str, bytes]:
    read = {}
    for name, content in files.items():
        if isinstance(content, Path):
            content = content.read_bytes()
        read[name] = content
    return read


def _spoiled(good: Sequence[Members], submission: DeclaredSubmission) -> list[Spoiled]:
    entry = submission.entry
    if entry:
        # Not every baseline need have it, since what is wrong with them is found elsewhere; the template has.
        return spoiled_code(_read(next(files for files in good if entry in files)), entry)
    without_header: list[str] = []
    for table in (submission, *(submission.tables or {}).values()):
        if table.header == "none":
            without_header += File(table.file).matching(good[0])
    return spoiled_submissions(good[0], without_header)


def _cut(text: str) -> str:
    """The problems of a verdict, without what is only remarked upon, in few lines."""
    lines = [line for line in text.splitlines() if not line.startswith("warning: ")]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], "…"]
    return "\n".join(lines)


def validator_verdicts(
    asked: Sequence[tuple[bytes, Sequence[bytes]]], package: ScoringPackage
) -> list[list[ValidatorVerdict]]:
    """Return what each `validate.pyz` of the package says of the zips beside it, in one run of this Python.

    Raises:
        UserError: one failed, for a bug in a package of the organiser's own.
        RuntimeError: one failed, and the package comes with the tool.
    """
    with tempfile.TemporaryDirectory(prefix="gen-bundle-validate-") as work:
        done = subprocess.run(
            python("-I", "-S", "-c", DRIVER, write_asked(asked, Path(work))),
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**environment(), "SCORING_DEBUG": "1"},  # a bug is shown whole
            check=False,
        )
    if done.returncode != 0 and package.is_own:
        raise UserError(failure(package.name, "submission.py", done.stderr))
    if done.returncode != 0:
        raise RuntimeError(f"the validator failed:\n{done.stderr}")
    verdicts = []
    failed = []
    for said in json.loads(done.stdout):
        own = []
        for status, text in said:
            own.append(ValidatorVerdict(status == 0, text.strip()))
            if status == VALIDATOR_FAILED:
                failed.append(text.strip())
        verdicts.append(own)
    raise_all(dict.fromkeys(failed))
    return verdicts


def write_asked(asked: Sequence[tuple[bytes, Sequence[bytes]]], work: Path) -> Path:
    """Write validators and submissions into a folder, and the file that tells the DRIVER where they are."""
    listed: list[list[str]] = []
    for number, (validator, submissions) in enumerate(asked):
        path = work / f"{number}.pyz"
        path.write_bytes(validator)
        listed.append([str(path)])
        for index, content in enumerate(submissions):
            path = work / f"{number}-{index}.zip"
            path.write_bytes(content)
            listed[-1].append(str(path))
    list_path = work / "asked.json"
    list_path.write_text(json.dumps(listed), encoding="utf-8")
    return list_path


def _texts(
    competition: Resolved,
    data: PhaseData,
    template: Members,
    invalid: Sequence[Spoiled],
    extras: Mapping[str, Path],
    *,
    template_is_refused: bool,
) -> tuple[bytes, bytes]:
    """Write README.md and FORMAT.md; a check of the organisers' own may refuse the template, the emptiest answers."""
    declaration, phase = competition.declaration, data.phase
    answered = tables_of(declaration.submission, [data])
    context = {
        "title": declaration.title,
        "phase": phase,
        "extras": {name: _purpose(extras[name]) for name in sorted(extras)},
        "limits": page_tables.limits_table([phase], competition.tasks),
        "dates": page_tables.phases_table([phase], declaration.time_zones),
        "programs": ids(competition.parts_of(phase)),
        "package": competition.package.name,
        "docker_image": declaration.image,
        "contact": declaration.contact,
        "submission": declaration.submission,
        "template": sorted(template),
        "kept": ", ".join(declaration.scoring_files),
        "template_is_refused": template_is_refused,
        "sample": bool(_sample_members(data)),
        "code": "",
        "torch": "models" in locks_for(competition),
        "fields": format_text(answered),
        "example": "",
        "gold": "",
        "invalid": invalid,
    }
    readme = "README.md.j2"
    if competition.takes_code:
        readme, context["code"] = "CODE_README.md.j2", code_text(competition, [phase])
    if competition.is_declared:
        context["example"] = example_text(answered)
        context["gold"] = gold_text(competition.scoring, competition.task_ids)
    form = ENVIRONMENT.get_template("FORMAT.md.j2").render(context)
    return ENVIRONMENT.get_template(readme).render(context).encode(), form.encode()


def _extras(competition: Resolved) -> dict[str, Path]:
    """The organisers' own files for the kit."""
    folder = competition.folder / EXTRAS
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not is_junk(name):
            found[name] = path
    return found


def _purpose(path: Path) -> str:
    """Return what the README says of an organisers' file: the first line of a program's docstring."""
    docstring = None
    if path.suffix == ".py":
        with suppress(SyntaxError, ValueError):  # of another Python, or in another encoding
            docstring = ast.get_docstring(syntax_tree(path.read_text(encoding="utf-8")))
    return (docstring or "from the organisers").splitlines()[0]


Spoil = Callable[[str], str]


def spoiled_submissions(sent: Members, without_header: Collection[str] = ()) -> list[Spoiled]:
    """Copies of a valid submission with one mistake each; not every one need be refused by every competition.

    `without_header` names the files without a header line.
    """
    # of another ending than the answers, since the only file with theirs could be taken for them
    other = "notes.md" if any(name.endswith(".txt") for name in sent) else "notes.txt"
    spoiled = [Spoiled("other-file", "the answers are not in it", {other: b"The answers are elsewhere.\n"})]
    if not sent:
        return spoiled
    name = max(sent, key=lambda name: (_size(sent[name]), name))
    if sum(map(_size, sent.values())) > MAX_BYTES:
        beginning = {name: _read({name: sent[name]})[name][:BEGINNING]}
        return [*spoiled, Spoiled("cut-off", CUT_OFF, beginning)]
    files = _read(sent)
    suffix = PurePosixPath(name).suffix.lower()
    if len(files) > 1:
        others = dict(files)
        del others[name]
        spoiled.append(Spoiled("missing-file", f"`{name}` is not in it", others))
    try:
        text = files[name].decode("utf-8-sig")
    except UnicodeDecodeError:  # an image, an array, or a text in another encoding
        half = files[name][: len(files[name]) // 2]
        return [*spoiled, Spoiled("cut-off", CUT_OFF, {**files, name: half})]
    mistakes = [*MISTAKES.get(suffix, ()), ("cut-off", CUT_OFF, lambda text: text[: len(text) * 2 // 3])]
    for short, what, spoil in mistakes:
        changed = spoil(text)
        if short == "other-column" and name in without_header:
            short, what = "unknown-id", "a row of the data has another id"  # the first cell is spoiled
        if changed != text:
            spoiled.append(Spoiled(short, what, {**files, name: changed.encode()}))
    spoiled.append(Spoiled("utf-16", "saved as UTF-16, not as UTF-8", {**files, name: text.encode("utf-16")}))
    return spoiled


def spoiled_code(files: Mapping[str, bytes], entry: str) -> list[Spoiled]:
    """Copies of a submission of code with one mistake each; not every one need be refused by every competition."""
    text = files[entry]
    others = dict(files)
    del others[entry]
    moved = {**below("code", files), "notes.txt": b"Notes.\n"}
    return [
        Spoiled("predictions", "predictions in place of the code that makes them", {"predictions.csv": b"id,label\n"}),
        Spoiled("other-name", f"`{entry}` has another name", {**others, f"my_{entry}": text}),
        Spoiled("in-a-folder", f"`{entry}` is not at the top", moved),
        Spoiled("syntax", "a bracket is not closed", {**files, entry: text + b"\n(\n"}),
        Spoiled("no-predict", "there is no `predict`", {**files, entry: text.replace(b"predict(", b"run(")}),
        Spoiled("metadata", "a file that makes the platform run it by itself", {**files, "metadata": b"command: x\n"}),
    ]


def _of_json(change: Callable[[Any], Any]) -> Spoil:
    """A change of JSON; nothing of a text that is none, such as an empty file."""

    def spoil(text: str) -> str:
        try:
            value = json.loads(text)
        except ValueError:
            return text
        change(value)
        return json.dumps(value, ensure_ascii=False)

    return spoil


def _without_last_entry(value: Any) -> None:
    if isinstance(value, dict) and value:
        value.pop(next(reversed(value)))


def _text_for_list(node: Any) -> bool:
    """Put a text in the place of the first list below a name; returns whether there was one."""
    if isinstance(node, list):
        return any(map(_text_for_list, node))
    for key, child in mapping_of(node).items():
        if isinstance(child, list):
            node[key] = "a text where a list is expected"
            return True
        if _text_for_list(child):
            return True
    return False


def _lines(change: Callable[[list[str]], list[str]]) -> Spoil:
    def spoil(text: str) -> str:
        return "".join(change(text.rstrip("\n").splitlines(keepends=True)))

    return spoil


def _substituted(pattern: str, replacement: str) -> Spoil:
    return lambda text: re.sub(pattern, replacement, text, count=1)


MISTAKES: Mapping[str, tuple[tuple[str, str, Spoil], ...]] = {
    ".json": (
        ("missing-entry", "the last entry is missing", _of_json(_without_last_entry)),
        ("text-for-list", "a text in the place of a list", _of_json(_text_for_list)),
    ),
    ".csv": (
        ("missing-row", "the last row is missing", _lines(lambda lines: lines[:-1])),
        ("repeated-row", "the last row is there twice", _lines(lambda lines: [*lines, "\n", lines[-1]])),
        ("other-column", "a column has another name", _lines(lambda lines: ["x_" + lines[0], *lines[1:]])),
        ("semicolons", "semicolons instead of commas", lambda text: text.replace(",", ";")),
    ),
    ".a2": (
        ("unknown-entity", "an argument is not an entity of the text", _substituted(r":T\d+", ":T99999")),
        ("blank-for-tab", "a blank in the place of a tab", _substituted(r"\t", " ")),
        ("unknown-type", "an event type that does not exist", _substituted(r"\t\w+", "\tNo_Such_Type")),
    ),
    ".xml": (
        ("unclosed", "an element is not closed", _substituted(r"</\w+>\s*$", "")),
        (
            "unknown-id",
            "an id that the text does not have",
            _substituted(r'(<antecedent[^>]*id=)"[^"]*"', r'\1"99999"'),
        ),
        ("doctype", "a document type declaration", _substituted(r"<(?=[A-Za-z])", "<!DOCTYPE answer>\n<")),
    ),
}
