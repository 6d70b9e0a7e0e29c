"""Where the declarations and scoring programs lie: beside the checkout's `generator/`, or inside an installed wheel.

Other installed packages bring competitions, too, as entry points of the group `gen_bundle.competitions`: the value is
the import package whose folder holds bundle.yaml. It is looked for and not imported, so that no code of it runs.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from scoring_kit.base.environment import requirement

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_PACKAGED = Path(__file__).resolve().parents[1] / "resources"
_CHECKOUT = Path(__file__).resolve().parents[3]


def resource(name: str) -> Path:
    """Return the folder `bundles`, `scoring_programs`, `docker` or `requirements` of this installation."""
    return (_PACKAGED if _PACKAGED.is_dir() else _CHECKOUT) / name


SCAFFOLD = Path(__file__).resolve().parents[1] / "scaffold"
"""The templates of what `gen-bundle new` writes."""
REAL_TASKS = SCAFFOLD / "real_tasks"
"""A folder for each real shared task that `gen-bundle new --like` begins with."""
MADE_UP = SCAFFOLD / "recipes"
"""A folder for each recipe of `gen-bundle new --recipe`, with its made-up data."""
PLACEHOLDER = "placeholder of gen-bundle new"
"""The `Comment` of the PNG that `gen-bundle new` writes for a logo."""
SCAFFOLD_TEXT = "TODO(organiser)"
"""On the pages and in bundle.yaml of a new competition, wherever the organisers must write something themselves."""


Lock = Literal["score", "models", "metrics"]
KITS: tuple[tuple[Lock, ...], ...] = (("score",), ("score", "metrics"), ("models",), ("models", "metrics"))
"""The locks of whose packages a starting kit may have a list."""
REQUIREMENT = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)


def competitions() -> dict[str, Path]:
    """Return the folders of the competitions that come with the tool, by name."""
    return {path.parent.name: path.parent for path in sorted(resource("bundles").glob("*/bundle.yaml"))}


@cache
def packages_text(locks: tuple[Lock, ...], further: str = "") -> str:
    """Several locks, and a further one, as one: each package once, since it has the same version in all of them."""
    return "".join(entries(lock_text(locks) + further).values())


def lock_text(locks: Sequence[Lock]) -> str:
    """Return the texts of locks, one after the other."""
    return "".join((resource("requirements") / f"{lock}.txt").read_text(encoding="utf-8") for lock in locks)


def entries(text: str) -> dict[str, str]:
    """Return each package of a lock with its first entry: version and hashes."""
    packages: dict[str, str] = {}
    for entry in REQUIREMENT.split(text)[1:]:
        packages.setdefault(entry.split("=", 1)[0], entry)
    return packages


def install_command(extra: str) -> str:
    """Return how an extra of the tool is installed: from where the tool itself came, folder, wheel or repository."""
    return f'pip install "{requirement(extra)}"'


GROUP = "gen_bundle.competitions"


class Known(NamedTuple):
    """A competition that has a name here.

    Attributes:
        folder: where its bundle.yaml lies.
        package: the installed package that brings it, with its version.
        fault: why it cannot be built by its name; empty where it can.
    """

    folder: Path
    package: str = "gen-bundle"
    fault: str = ""


def known_competitions() -> dict[str, Known]:
    """Return all competitions by name, those that come with the tool first."""
    from importlib.metadata import entry_points  # here, since it takes long to import

    claims: defaultdict[str, list[Known]] = defaultdict(list)
    for name, folder in competitions().items():
        claims[name].append(Known(folder))
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        claims[point.name].append(_installed(point))
    return {name: known[0] if len(known) == 1 else _clash(name, known) for name, known in claims.items()}


def _clash(name: str, known: list[Known]) -> Known:
    places = ", ".join(f"{one.package} ({one.folder})" for one in known)
    return Known(
        known[0].folder,
        known[0].package,
        f"{name}: {len(known)} installed competitions have this name: {places}. Give the folder of the one you mean.",
    )


def _installed(point: "EntryPoint") -> Known:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "a package"
    folder = _folder(point.value)
    if (folder / "bundle.yaml").is_file():
        return Known(folder, package)
    return Known(
        folder,
        package,
        f"{point.name}: {package} names {point.value!r} in its entry points ({GROUP}), but {folder / 'bundle.yaml'} "
        "does not exist. Expected an import package whose folder holds bundle.yaml.",
    )


def _folder(value: str) -> Path:
    """The folder of an import package, without importing it or one above it; where it is not installed, its path."""
    top, *below = value.split(".")
    try:
        spec = find_spec(top)
    except ValueError:  # not a name
        spec = None
    for place in (spec and spec.submodule_search_locations) or ():
        return Path(place).joinpath(*below)
    return Path(top).joinpath(*below)
