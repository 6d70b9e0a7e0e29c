"""Starts a competition from the template inside the package (cookiecutter): it builds and dry-runs at once."""

import keyword
import re
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.errors import UserError

TEMPLATE = Path(__file__).resolve().parent / "scaffold"
COPIED_AS_IT_IS = ["pages/*", "*.png", "*.csv"]


def new_competition(name: str, parent: Path, title: str | None = None) -> Path:
    """Write a new competition's folder `parent/name` and return it.

    Raises:
        UserError: the name cannot be used, or the folder exists.
    """
    from cookiecutter.generate import generate_files

    package = name.lower().replace("-", "_")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or keyword.iskeyword(package) or len(package) > 36:
        raise UserError(f"{name!r}: expected a name of at most 36 letters, digits, - and _, starting with a letter.")
    if package in ("scoring_kit", "score", "tests", "data", "pages"):
        raise UserError(f"{name!r}: this name is taken by the tool itself. Choose another one.")
    folder = parent / name
    if folder.exists():
        raise UserError(f"{folder}: exists already. Choose another name, or remove it.")
    parent.mkdir(parents=True, exist_ok=True)
    answers = {
        "name": name,
        "package": package,
        "title": title or name.replace("-", " ").replace("_", " ").capitalize(),
        "year": str(datetime.now(UTC).year + 1),
        "_copy_without_render": COPIED_AS_IT_IS,
    }
    generate_files(repo_dir=str(TEMPLATE), context={"cookiecutter": answers}, output_dir=str(parent))
    return folder
