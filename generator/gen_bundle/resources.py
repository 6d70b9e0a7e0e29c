"""Where the declarations and scoring programs lie: beside the checkout's `generator/`, or inside an installed wheel."""

from collections.abc import Iterator
from pathlib import Path

from scoring_kit.base.missing_packages import requirement

_PACKAGED = Path(__file__).resolve().parent / "resources"
_CHECKOUT = Path(__file__).resolve().parents[2]


def resource(name: str) -> Path:
    """The folder `bundles`, `scoring_programs`, `docker` or `requirements` of this installation."""
    return (_PACKAGED if _PACKAGED.is_dir() else _CHECKOUT) / name


SCAFFOLD = Path(__file__).resolve().parent / "scaffold"
"""The templates of what `gen-bundle new` writes."""
REAL_TASKS = SCAFFOLD / "real_tasks"
"""A folder for each real shared task that `gen-bundle new --like` begins with."""
PLACEHOLDER = "placeholder of gen-bundle new"
"""The `Comment` of the PNG that `gen-bundle new` writes for a logo."""
SCAFFOLD_TEXT = "TODO(organiser)"
"""On the pages and in bundle.yaml of a new competition, wherever the organisers must write something themselves."""


def competitions() -> dict[str, Path]:
    """The folders of the competitions that come with the tool, by name."""
    return {path.parent.name: path.parent for path in sorted(resource("bundles").glob("*/bundle.yaml"))}


def shipped_gold() -> Iterator[Path]:
    """The folders of gold that come with the tool; participants have the rest anyway."""
    for data in (*resource("bundles").glob("*/data"), *SCAFFOLD.glob("*/*/data")):
        for folder in data.iterdir():
            if folder.name not in ("public", "input", "baselines"):
                yield folder


def install_command(extra: str) -> str:
    """How an extra of the tool is installed: from the folder, wheel or repository that the tool itself came from."""
    return f'pip install "{requirement(extra)}"'
