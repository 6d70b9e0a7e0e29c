"""Starts a competition from the template inside the package (cookiecutter): it builds and dry-runs at once."""

import keyword
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.resources import SCAFFOLD, competitions

# What scoring programs import: a package of the same name would be found in its place.
IMPORTED = {"bert_score", "matplotlib", "nltk", "numpy", "pandas", "scipy", "sklearn", "torch", "transformers", "yaml"}
COPIED_AS_IT_IS = ["pages/*", "*.png", "*.csv"]


def new_competition(name: str, parent: Path, title: str | None = None) -> Path:
    """Write a new competition's folder `parent/name` and return it.

    Raises:
        UserError: the name cannot be used, the folder exists, or it cannot be written.
    """
    from cookiecutter.generate import generate_files

    package = name.lower().replace("-", "_")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or len(package) > 36:
        raise UserError(f"{name!r}: expected a name of at most 36 letters, digits, - and _, starting with a letter.")
    if package in ("scoring_kit", "score", "tests", "data", "pages") or name in competitions():
        raise UserError(f"{name!r}: this name is taken by the tool itself. Choose another one.")
    if package in IMPORTED or package in sys.stdlib_module_names or keyword.iskeyword(package):
        raise UserError(f"{name!r}: this name means something to Python already. Choose another one.")
    folder = parent / name
    if folder.exists():
        raise UserError(f"{folder}: exists already. Choose another name, or remove it.")
    answers = {
        "name": name,
        "package": package,
        "image": re.sub("[-_]+", "-", name.lower()).strip("-"),  # Docker allows nothing else in an image's name
        "title": title or name.replace("-", " ").replace("_", " ").capitalize(),
        "year": str(datetime.now(UTC).year + 1),
        "_copy_without_render": COPIED_AS_IT_IS,
    }
    try:
        parent.mkdir(parents=True, exist_ok=True)
        generate_files(repo_dir=str(SCAFFOLD.parent), context={"cookiecutter": answers}, output_dir=str(parent))
    except OSError as error:
        raise UserError(
            f"--in {parent}: {error.strerror or error}. Expected a folder with room and leave to write."
        ) from error
    return folder
