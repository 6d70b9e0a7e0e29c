"""Makes a new competition's folder: beside its place first, then moved there whole."""

import hashlib
import io
import keyword
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from gen_bundle.declaration.read import read_competition
from gen_bundle.declaration.schema import schema_text
from gen_bundle.errors import UserError
from gen_bundle.new.data import example, write_data, write_sample
from gen_bundle.new.declare import task_of
from gen_bundle.new.propose import Proposal
from gen_bundle.new.template import render
from gen_bundle.package.given_files import SAMPLE
from gen_bundle.package.own_code import remember_own_code
from gen_bundle.package.phase_data import prepare_reference
from gen_bundle.package.resolve import Part, resolve
from gen_bundle.package.shipped import PLACEHOLDER
from gen_bundle.resources import SCAFFOLD, competitions

LONGEST_NAME = 36
SCHEMA = "bundle.schema.json"
TRAIN = "train"
"""The folder of the public data with what participants train on."""
LOGO_SIDE = 256
# What scoring programs import: a package of the same name would be found in its place.
IMPORTED = {"bert_score", "matplotlib", "nltk", "numpy", "pandas", "scipy", "sklearn", "torch", "transformers", "yaml"}
OURS = {"declared", "scoring_kit", "score", "tests", "data", "pages"}


@dataclass(frozen=True)
class Place:
    """What a new competition is called, and where it goes.

    Attributes:
        name: of its folder.
        parent: the folder that it is made in.
        title: None for one made of the name.
    """

    name: str
    parent: Path
    title: str | None = None

    @property
    def folder(self) -> Path:
        return self.parent / self.name

    def answers(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title or self.name.replace("-", " ").replace("_", " ").capitalize(),
            "year": str(datetime.now(UTC).year + 1),
            "version": metadata.version("gen-bundle"),
        }


def check_name(place: Place) -> None:
    """Raise UserError where the name cannot be used, or the folder exists."""
    name = place.name
    path = Path(name)
    if path.name != name and path.name:
        parent = place.parent / path.parent
        raise UserError(f"{name!r}: expected a name. For a folder elsewhere: gen-bundle new {path.name} --in {parent}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        raise UserError(f"{name!r}: expected a name of at most 36 letters, digits, - and _, starting with a letter.")
    if name in competitions():
        raise UserError(f"{name!r}: a competition of this name comes with the tool. Choose another one.")
    if place.folder.exists():
        raise UserError(f"{place.folder}: exists already. Choose another name, or remove it.")


@contextmanager
def unfinished(place: Place) -> Iterator[Path]:
    """A folder beside the new one's place; what was made in it under the name is moved there at the end.

    Raises:
        UserError: the name cannot be used, the folder exists, or nothing can be written there.
    """
    check_name(place)
    work = place.parent / f".{place.name}.{secrets.token_hex(4)}.tmp"
    try:
        work.mkdir(parents=True)
        yield work
        if place.folder.exists():
            raise UserError(f"{place.folder}: exists already. Choose another name, or remove it.")
        (work / place.name).rename(place.folder)
    except OSError as error:
        where = error.filename or place.parent
        raise UserError(
            f"--in {place.parent}: {error.strerror or error} ({where}). Expected a writable folder with free space."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def new_declared(
    place: Place,
    proposal: Proposal,
    phases: Mapping[str, Sequence[int]],
    template: Path | None = None,
    *,
    train: Path | None = None,
    ask: bool = False,
    check: bool = True,
) -> Path:
    """Write a competition that is scored without Python; returns its folder.

    Args:
        place: name and place.
        proposal: its gold and what the columns are for.
        phases: phase id → its rows of the gold.
        template: a cookiecutter template in place of the tool's own.
        train: a file for participants to train on, published as it is.
        ask: whether the template may ask for its own variables.
        check: whether the scoring program reads the gold before anything is put in place, which takes seconds.

    Raises:
        UserError: it cannot be written, or the gold does not fit.
    """
    with unfinished(place) as work:
        answers = {**place.answers(), "task": task_of(proposal, phases)}
        folder = render(template or SCAFFOLD / "declared", answers, work, ask=ask)
        if folder != (work / place.name).resolve():
            raise UserError(
                f"--template {template}: its folder is not named {{{{cookiecutter.name}}}}. Expected that name."
            )
        write_data(folder / "data", proposal, phases)
        if train is not None:
            (folder / "data" / "public" / TRAIN).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(train, folder / "data" / "public" / TRAIN / train.name)
        sample, sample_phases = example(proposal, list(phases))
        write_data(folder / "example", sample, sample_phases)
        if proposal.code:
            sample, rows = example(proposal, [SAMPLE])
            for data in ("data", "example"):
                write_sample(folder / data / "public" / SAMPLE, sample, rows[SAMPLE][: len(rows[SAMPLE]) // 2])
        if not (folder / "logo.png").exists():
            (folder / "logo.png").write_bytes(placeholder_logo(place.name, answers["title"]))
        write_schema(folder)
        read_competition(folder)
        if check:
            check_gold(folder)
        remember_own_code(resolve(folder))
    return place.folder


def write_schema(folder: Path) -> None:
    """Put the schema beside bundle.yaml, so that it is found on every machine that the folder comes to."""
    (folder / SCHEMA).write_text(schema_text(), encoding="utf-8")


def check_gold(folder: Path) -> None:
    """Let the scoring program read the gold of each phase as a build will; raises UserError with what it says."""
    competition = resolve(folder)
    whole = Part("all", "", competition.tasks)
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work, competition.package.opened() as organiser:
        for phase in competition.declaration.phases:
            try:
                prepare_reference(competition, organiser, whole, phase.id, Path(work) / phase.id)
            except UserError as error:
                problems += [f"{phase.id}: {message}" for message in error.messages]
    if problems:
        advice = "Lines are those of the gold as it is divided between the phases."
        raise UserError(*dict.fromkeys(problems), advice=advice)


def new_package(place: Place) -> Path:
    """Write a competition with a scoring package; returns its folder.

    Raises:
        UserError: the name cannot be used, the folder exists, or it cannot be written.
    """
    package = place.name.lower().replace("-", "_")
    if package in OURS:
        raise UserError(f"{place.name!r}: this name is taken by the tool itself. Choose another one.")
    if package in IMPORTED or package in sys.stdlib_module_names or keyword.iskeyword(package):
        raise UserError(f"{place.name!r}: this name means something to Python already. Choose another one.")
    with unfinished(place) as work:
        answers = {**place.answers(), "package": package}
        folder = render(SCAFFOLD / "package", answers, work)
        (folder / "logo.png").write_bytes(placeholder_logo(place.name, answers["title"]))
        write_schema(folder)
        for cache in folder.rglob("__pycache__"):
            shutil.rmtree(cache)
        remember_own_code(resolve(folder))
    return place.folder


def placeholder_logo(name: str, title: str) -> bytes:
    """A PNG with the first letter of the title."""
    from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

    hue = int(hashlib.sha256(name.encode()).hexdigest()[:4], 16) % 360
    image = Image.new("RGB", (LOGO_SIDE, LOGO_SIDE), f"hsl({hue}, 45%, 38%)")
    letter = next((char for char in title + name if char.isascii() and char.isalnum()), "?").upper()
    font = ImageFont.load_default(LOGO_SIDE * 0.6)
    ImageDraw.Draw(image).text((LOGO_SIDE / 2, LOGO_SIDE / 2), letter, fill="white", font=font, anchor="mm")
    about = PngImagePlugin.PngInfo()
    about.add_text("Comment", PLACEHOLDER)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", pnginfo=about)
    return buffer.getvalue()
