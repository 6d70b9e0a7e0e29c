"""A phase's starting kit: what participants need to check, pack and score a submission at home."""

import ast
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gen_bundle.declaration.declared.settle import DECLARED
from gen_bundle.errors import UserError
from gen_bundle.image.requirements import LOCK_FILE
from gen_bundle.package.client import ScoringPackage, failure
from gen_bundle.package.code_template import empty_submission
from gen_bundle.package.given_files import SAMPLE
from gen_bundle.package.imports import imported_modules
from gen_bundle.package.ingestion import code_entry, ingestion_members
from gen_bundle.package.locks import locks_for, packages_text
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.programs import program_members
from gen_bundle.package.resolve import Resolved
from gen_bundle.render import tables
from gen_bundle.render.broken_examples import spoiled_code, spoiled_submissions
from gen_bundle.render.code_text import code_text
from gen_bundle.render.submission_text import example_text, format_text, gold_text, tables_of
from gen_bundle.render.validator import TEMPLATES, validator_bytes
from gen_bundle.resources import resource
from gen_bundle.starting import environment, python
from gen_bundle.zips.writing import Members, zipped

EXTRAS = "starting_kit"
"""A folder beside bundle.yaml: its files travel in every starting kit."""

MAX_LINES = 8
ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - Markdown, of the organisers' own words
)

# Runs the validator on several submissions in one process: [[exit status, what it prints], …] as JSON.
DRIVER = """
import contextlib, io, json, runpy, sys
validator, verdicts = sys.argv[1], []
for path in sys.argv[2:]:
    sys.argv = [validator, path]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(validator, run_name="__main__")
        except SystemExit as end:
            verdicts.append([end.code, printed.getvalue()])
print(json.dumps(verdicts))
"""


@dataclass(frozen=True)
class Verdict:
    """What the validator says of a submission."""

    valid: bool
    text: str


@dataclass(frozen=True)
class InvalidExample:
    """A submission that is refused, and the message it gets."""

    name: str
    what: str
    message: str
    content: bytes


def starting_kit_members(competition: Resolved, data: PhaseData) -> dict[str, bytes | Path]:
    """The kit's files by name.

    Raises:
        UserError: a baseline of the phase is not a valid submission, or a package of the organiser's own fails.
        RuntimeError: a scoring package that comes with the tool refuses its own empty template.
    """
    competition = replace(competition, options=competition.public_options)
    manifest = {**data.manifest, "options": competition.options, "code": code_entry(competition)}
    validator = validator_bytes(competition.package.folder, resource("scoring_programs") / "scoring_kit", manifest)
    # code to begin with: the first baseline, if there is one
    examples = data.baselines.values() if competition.takes_code else ()
    template = next(iter(examples), empty_submission(competition, data))
    valid, invalid = _examples(validator, data, competition)
    texts = _texts(competition, data, template, invalid)
    members: dict[str, bytes | Path] = {
        **{f"template/{name}": content for name, content in template.items()},
        **{f"examples/invalid/{example.name}.zip": example.content for example in invalid},
        **{f"examples/invalid/{example.name}.txt": f"{example.message}\n".encode() for example in invalid},
        **_extras(competition),
        "README.md": texts["README.md"],
        "FORMAT.md": texts["FORMAT.md"],
        "examples/valid.zip": valid,
        "validate.pyz": validator,
        "score_locally.py": TEMPLATES / "score_locally.py",
        "requirements.txt": _packages(competition).encode(),
    }
    read_at_home = imported_modules(("scoring_kit.submission_zip",), (resource("scoring_programs") / "scoring_kit",))
    for part in competition.parts_of(data.phase):
        program = {**program_members(competition, part), **read_at_home}
        members |= {f"scorer/{part.id}/{name}": content for name, content in program.items()}
    if competition.takes_code:
        members |= _running_members(competition, data)
    return members


def _running_members(competition: Resolved, data: PhaseData) -> dict[str, bytes | Path]:
    """What runs participants' code at home: `try.py`, the ingestion program that it calls, and the sample."""
    ingestion = ingestion_members(competition, data.phase, data.manifest)
    return {
        "try.py": TEMPLATES / "try.py",
        **{f"ingestion/{name}": content for name, content in ingestion.items()},
        **_sample_members(data),
    }


def _sample_members(data: PhaseData) -> dict[str, bytes | Path]:
    """The sample's files by their names in the kit; empty where the public data have none with input and gold."""
    members = {name: content for name, content in data.public.items() if name.startswith(f"{SAMPLE}/")}
    parts = {name.split("/")[1] for name in members if name.count("/") > 1}
    return members if {"input", "gold"} <= parts else {}


def _packages(competition: Resolved) -> str:
    """What scoring at home needs: the image's packages, those of the competition's own as far as they are locked."""
    lock = competition.folder / LOCK_FILE
    own = lock.read_text(encoding="utf-8") if competition.declaration.requirements and lock.is_file() else ""
    return packages_text(locks_for(competition.options), own)


def _examples(validator: bytes, data: PhaseData, competition: Resolved) -> tuple[bytes, list[InvalidExample]]:
    """The valid example (the first baseline, or else the empty template), and what is refused with its message."""
    submissions = {f"baselines/{data.phase.data_id}/{name}": files for name, files in data.baselines.items()}
    package, entry = competition.package, competition.declaration.submission.entry
    submissions["the template that organiser.py writes"] = empty_submission(competition, data)
    good = {
        submission: {name: one.read_bytes() if isinstance(one, Path) else one for name, one in files.items()}
        for submission, files in submissions.items()
    }
    if entry:
        # Not every baseline need have it, since what is wrong with them is found below; the template has.
        spoiled = spoiled_code(next(files for files in good.values() if entry in files), entry)
    else:
        declared = competition.declaration.submission
        tables = [declared, *(declared.tables or {}).values()]
        without_header = [table.file for table in tables if table.header == "none"]
        spoiled = spoiled_submissions(next(iter(good.values())), without_header)
    zips = [zipped(files) for files in good.values()] + [zipped(one.files) for one in spoiled]
    verdicts = validator_verdicts(validator, zips, package)
    refused = [
        f"{name}: is not a valid submission. {_cut(verdict.text)}"
        for name, verdict in zip(good, verdicts, strict=False)
        if not verdict.valid
    ]
    if refused and not verdicts[len(good) - 1].valid and not package.is_own:
        raise RuntimeError("\n".join(refused))
    if refused:
        raise UserError(*refused)
    return zips[0], [
        InvalidExample(one.name, one.what, _cut(verdict.text), content)
        for one, content, verdict in zip(spoiled, zips[len(good) :], verdicts[len(good) :], strict=True)
        if not verdict.valid
    ]


def _cut(text: str) -> str:
    """The problems of a verdict, without what is only remarked upon, in few lines."""
    lines = [line for line in text.splitlines() if not line.startswith("warning: ")]
    return "\n".join(lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "…"])


def validator_verdicts(validator: bytes, submissions: Sequence[bytes], package: ScoringPackage) -> list[Verdict]:
    """What the package's `validate.pyz` says of each zip, in one run of this Python.

    Raises:
        UserError: it failed, for a bug in a package of the organiser's own.
        RuntimeError: it failed, and the package comes with the tool.
    """
    with tempfile.TemporaryDirectory(prefix="gen-bundle-validate-") as work:
        folder = Path(work)
        (folder / "validate.pyz").write_bytes(validator)
        paths = [folder / f"{index}" / "submission.zip" for index in range(len(submissions))]
        for path, content in zip(paths, submissions, strict=True):
            path.parent.mkdir()
            path.write_bytes(content)
        done = subprocess.run(
            python("-I", "-S", "-c", DRIVER, folder / "validate.pyz", *paths),
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
    return [Verdict(status == 0, text.strip()) for status, text in json.loads(done.stdout)]


def _texts(
    competition: Resolved, data: PhaseData, template: Members, invalid: Sequence[InvalidExample]
) -> Mapping[str, bytes]:
    declaration, phase = competition.declaration, data.phase
    answered = tables_of(declaration.submission, [data])
    is_declared = declaration.scoring_program == DECLARED
    context = {
        "title": declaration.title,
        "phase": phase,
        "extras": {name: _purpose(content) for name, content in sorted(_extras(competition).items())},
        "limits": tables.limits_table([phase], competition.tasks),
        "dates": tables.phases_table([phase], declaration.time_zones),
        "programs": [part.id for part in competition.parts_of(phase)],
        "package": competition.package.name,
        "docker_image": declaration.image,
        "contact": declaration.contact,
        "submission": declaration.submission,
        "template": sorted(template),
        "sample": bool(_sample_members(data)),
        "code": code_text(competition, [phase]) if competition.takes_code else "",
        "torch": "models" in locks_for(competition.options),
        "fields": format_text(answered),
        "example": example_text(answered) if is_declared else "",
        "gold": gold_text(competition.options, [task.id for task in competition.tasks]) if is_declared else "",
        "invalid": invalid,
    }
    sources = {
        "README.md": "CODE_README.md.j2" if competition.takes_code else "README.md.j2",
        "FORMAT.md": "FORMAT.md.j2",
    }
    return {name: ENVIRONMENT.get_template(source).render(context).encode() for name, source in sources.items()}


def _extras(competition: Resolved) -> dict[str, Path]:
    """The organisers' own files for the kit."""
    folder = competition.folder / EXTRAS
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path for path in files}


def _purpose(path: Path) -> str:
    """What the README says of an organisers' file: the first line of a program's docstring."""
    docstring = None
    if path.suffix == ".py":
        with suppress(SyntaxError, ValueError):  # of another Python, or in another encoding
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return docstring.splitlines()[0] if docstring else "from the organisers"
