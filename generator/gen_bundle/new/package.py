"""Starts a competition with a scoring package of the organiser's own, in Python: it builds and dry-runs at once."""

import keyword
import shutil
import sys
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.new.logo import placeholder_logo
from gen_bundle.new.project import Place, unfinished, write_schema
from gen_bundle.new.template import render
from gen_bundle.package.own_code import remember_own_code
from gen_bundle.package.resolve import resolve
from gen_bundle.resources import SCAFFOLD

# What scoring programs import: a package of the same name would be found in its place.
IMPORTED = {"bert_score", "matplotlib", "nltk", "numpy", "pandas", "scipy", "sklearn", "torch", "transformers", "yaml"}
OURS = {"declared", "scoring_kit", "score", "tests", "data", "pages"}


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
