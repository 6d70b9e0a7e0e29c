"""Lacks that keep a finished bundle a draft, each with its repair: it would run, and yet must not be published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path

from gen_bundle.build.foreign import ForeignProject, platform_date
from gen_bundle.build.package.libraries import lacking, unlocked
from gen_bundle.build.package.phase_data import PhaseData
from gen_bundle.build.package.programs import absent_imports
from gen_bundle.build.package.resolve import Resolved
from gen_bundle.check.report import SYNTHETIC
from gen_bundle.check.rules.unfinished import EXAMPLE_ADDRESS
from gen_bundle.codabench.dates import read_instant
from gen_bundle.codabench.worker import LOCAL_IMAGES, PLATFORM_IMAGE
from gen_bundle.declaration.read import FILE
from gen_bundle.ground.resources import PLACEHOLDER, SCAFFOLD_TEXT
from scoring_kit.base.submissions import is_junk

_PAGES = (".md", ".html")


@dataclass(frozen=True)
class Lack:
    """Something that is missing before a bundle can be published."""

    id: str
    what: str
    repair: str

    def __str__(self) -> str:
        return f"{self.what} {self.repair}"


def lacks(
    competition: Resolved | ForeignProject,
    phases: Sequence[PhaseData],
    tree: Mapping[str, bytes | Path],
    now: datetime,
) -> list[Lack]:
    """Return everything that is missing.

    Args:
        competition: what was built.
        phases: its data; none of a foreign project.
        tree: the bundle's files by name.
        now: the moment of the build.
    """
    if isinstance(competition, ForeignProject):
        return _foreign_lacks(competition, now)
    declaration, logo = competition.declaration, competition.folder / competition.declaration.logo
    texts = {name: text for name, text in tree.items() if name.endswith(_PAGES) and isinstance(text, bytes)}
    texts[FILE] = (competition.folder / FILE).read_bytes()
    return [
        *_gold(competition),
        *_dates([(phase.id, phase.end) for phase in competition.phases], now),
        *_contact_and_image(declaration.contact or "", declaration.image, declaration.queue),
        *_packages(competition),
        *_scaffold(texts, logo.read_bytes(), str(competition.folder), str(logo)),
        *_description(declaration.description, texts[FILE]),
        *_public_data(competition, phases),
    ]


def _foreign_lacks(project: ForeignProject, now: datetime) -> list[Lack]:
    """The same of a foreign project, of which nothing is known but what every bundle says."""
    declaration = project.declaration
    ends: list[tuple[str, datetime | None]] = []
    for phase in declaration.phases:
        end = platform_date(phase.end or "", time(23, 59, 59))
        ends.append((phase.id, read_instant(end, now).moment))
    logo, *written = declaration.files
    texts = {name: (project.folder / name).read_bytes() for name in (FILE, *written)}
    return [
        *_dates(ends, now),
        *_contact_and_image(declaration.contact or "", declaration.image, declaration.queue),
        *_scaffold(texts, (project.folder / logo).read_bytes(), str(project.folder), logo),
        *_description(declaration.description, texts[FILE]),
    ]


def _gold(competition: Resolved) -> Iterator[Lack]:
    if synthetic := competition.synthetic_phases:
        folders = " and ".join(f"{phase}/" for phase in synthetic)
        yield Lack(
            SYNTHETIC,
            f"The gold of {_listed('phase', synthetic)} is synthetic: it comes with gen-bundle.",
            f"Build the bundle with the real data: --data DIR, with {folders} in it.",
        )


def _dates(phases: Sequence[tuple[str, datetime | None]], now: datetime) -> Iterator[Lack]:
    """The ends of phases that are over, by the phases' ids."""
    ends, settings = [], []
    for phase, end in phases:
        if end is not None and end < now:
            ends.append(f"the phase {phase} ended on {end:%Y-%m-%d}")
            settings += [f'--set phases.{phase}.start="… AoE"', f'--set phases.{phase}.end="… AoE"']
    if ends:
        yield Lack(
            "dates-past",
            f"In the past: {', '.join(ends)}.",
            f"Change the dates in bundle.yaml, or {' '.join(settings)}.",
        )


def _contact_and_image(contact: str, image: str, own_queue: object) -> Iterator[Lack]:
    """Yield an example for a contact, and an image that the platform cannot pull by its name."""
    if EXAMPLE_ADDRESS.search(contact):
        yield Lack("example-contact", f"The contact {contact} is an example.", "Give yours: --set contact=NAME@DOMAIN.")
    # The workers of a queue of one's own may have it: the check warns.
    if image.startswith(LOCAL_IMAGES) and not own_queue:
        yield Lack(
            "local-image",
            f"{image} is the name of an image of your own machine; the platform cannot pull it.",
            "Publish one with gen-bundle image build and gen-bundle image push, and name it: --set docker_image=….",
        )


def _packages(competition: Resolved) -> Iterator[Lack]:
    """Yield what the platform's own image has not; another image is the organisers' to fill."""
    if competition.declaration.image != PLATFORM_IMAGE:
        return
    if absent := unlocked(competition):
        yield Lack(
            "image-lacks",
            f"{PLATFORM_IMAGE} has no {', '.join(absent)}.",
            f"Lock them, and they travel in the programs: gen-bundle image lock {competition.folder}.",
        )
    elif absent := [name for name, surely in absent_imports(competition).items() if surely]:
        yield Lack(
            "image-lacks",
            f"{PLATFORM_IMAGE} has no {', '.join(absent)}, which the competition's own code imports.",
            f"Name the packages with their versions in `requirements` of {FILE}, and lock them, so that they travel in "
            f"the programs: gen-bundle image lock {competition.folder}. Or name an image that has them: "
            "--set docker_image=….",
        )
    if absent := lacking(competition):
        yield Lack(
            "image-lacks",
            f"{PLATFORM_IMAGE} has no {', '.join(absent)}.",
            "Build where pip reaches a package index, which puts wheels into the program, or publish an image of your "
            "own: gen-bundle image build and gen-bundle image push, and name it: --set docker_image=….",
        )


def _scaffold(texts: Mapping[str, bytes], logo: bytes, folder: str, logo_file: str) -> Iterator[Lack]:
    """Yield what `gen-bundle new` wrote and the organisers have not replaced; the texts are written to `folder`."""
    if unwritten := [name for name, text in texts.items() if SCAFFOLD_TEXT.encode() in text]:
        yield Lack(
            "scaffold-text",
            f"{', '.join(unwritten)}: {SCAFFOLD_TEXT} is still on it, where the organisers must write themselves.",
            f"Write it in place of that mark, in {folder}.",
        )
    if PLACEHOLDER.encode() in logo:
        yield Lack("scaffold-logo", "The logo is the one that gen-bundle new writes.", f"Replace {logo_file}.")


def _description(description: str, declared: bytes) -> Iterator[Lack]:
    """An empty description, where no mark of ours asks for one."""
    if not description.strip() and SCAFFOLD_TEXT.encode() not in declared:
        yield Lack(
            "no-description",
            "The description is empty: lists of competitions show nothing of this one.",
            "Write `description:` in bundle.yaml, one sentence.",
        )


def _public_data(competition: Resolved, phases: Sequence[PhaseData]) -> Iterator[Lack]:
    """An empty folder says that participants get the data elsewhere."""
    public = competition.data / "public"
    if public.is_dir() and all(is_junk(path.name) for path in public.iterdir()):
        return
    without = [data.phase.id for data in phases if not data.public and not (public / data.phase.data_id).is_dir()]
    if without:
        yield Lack(
            "no-public-data",
            f"Participants get no data in {_listed('phase', without)}.",
            f"Put what they may download into {public}, or leave that folder empty if they get it elsewhere.",
        )


def _listed(noun: str, ids: Sequence[str]) -> str:
    return f"{noun}{'s' if len(ids) > 1 else ''} {' and '.join(ids)}"
