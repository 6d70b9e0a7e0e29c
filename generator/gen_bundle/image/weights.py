"""Settles which files are baked into an image: each with its sha256, from the hub or from a folder on this machine."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gen_bundle.errors import UserError
from gen_bundle.image.hub import endpoint, needed_files
from gen_bundle.image.models_file import Model, ModelsFile
from gen_bundle.image.request import ImageRequest

PUNKT_FOLDER = Path("tokenizers") / "punkt_tab"
PUNKT_URL = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"


@dataclass(frozen=True)
class Weights:
    """What the bake step gets.

    Attributes:
        manifest: its JSON manifest, `{hub, models: [{repository, revision, files, licence, number, path}], punkt}`.
        sources: folder in the build context → folder on this machine whose files go there.
    """

    manifest: dict[str, Any]
    sources: Mapping[str, Path] = field(default_factory=dict)

    @property
    def models(self) -> list[str]:
        """The models as the image's label lists them: `NAME@REVISION`."""
        return [f"{model['repository']}@{model['revision']}" for model in self.manifest["models"]]


def settle_weights(request: ImageRequest, known: ModelsFile, models_path: Path, nltk_data: Path | None) -> Weights:
    """Pick the request's models from the models file.

    Args:
        request: the image wanted; one without models needs no sentence splitter either.
        known: all models that are known.
        models_path: where that file lies; folders in it are relative to that.
        nltk_data: folder to take the sentence splitter's data from; None to download them.

    Raises:
        UserError: everything that is missing or not locked, with what to do.
    """
    problems: list[str] = []
    models: list[dict[str, Any]] = []
    sources: dict[str, Path] = {}
    for repository, revision in request.models.items():
        model = known.models.get(repository, Model())
        folder = models_path.parent / model.path if model.path is not None else None
        fault = _fault(model, revision, folder, request.name)
        if fault is not None:
            problems.append(f"{models_path}: models.{repository}: {fault}")
            continue
        place = None
        if folder is not None:
            place = f"sources/{len(sources)}"
            sources[place] = folder
        settled = _settled(model, folder)
        problems += [f"{models_path}: models.{repository}.{text}" for text in model.contradictions(settled["files"])]
        models.append({"repository": repository, **settled, "path": place})
    punkt = None
    if request.packages == "models":
        place = None
        files = known.punkt.files
        if nltk_data is not None:
            place = "sources/punkt"
            sources[place] = folder = nltk_data / PUNKT_FOLDER
            files = files or _digests(folder, [f"english/{path.name}" for path in sorted(folder.glob("english/*.*"))])
        punkt = {"files": files, "path": place, "url": PUNKT_URL}
        fault = _punkt_fault(files, sources.get("sources/punkt"), request.name)
        if fault is not None:
            problems.append(f"{models_path}: punkt: {fault}")
    if problems:
        raise UserError(*problems)
    return Weights({"hub": endpoint(), "models": models, "punkt": punkt}, sources)


def _punkt_fault(files: Mapping[str, str] | None, folder: Path | None, name: str) -> str | None:
    """Why the sentence splitter's data cannot be baked in, or None."""
    if folder is None:
        return None if files else f"is not locked. {_lock(name)} Or name a folder of nltk data: --nltk-data, NLTK_DATA."
    missing = _missing(folder, files or {})
    if missing or not files:
        return f"{folder} lacks {', '.join(missing) or 'english'}. Expected nltk's punkt_tab data there."
    return None


def _fault(model: Model, wanted: str | None, folder: Path | None, name: str) -> str | None:
    """Why a model cannot be baked in, or None."""
    if folder is not None and not (folder / "config.json").is_file():
        return f"path: {folder} is not a model folder. Expected one with a config.json."
    if folder is not None and (missing := _missing(folder, model.files or {})):
        return f"path: {folder} lacks {', '.join(missing)}. Expected all locked files."
    if folder is None and not model.locked:
        return f"is not locked. {_lock(name)}"
    if wanted is not None and not model.locked:
        return (
            f"path: {folder} is at no known revision, but the competition asks for {wanted}. "
            "Lock the entry before it gets a path, or ask for no revision: --set options.GROUP.revision=null."
        )
    if wanted is not None and wanted != model.revision:
        repair = f"Set revision and files to null. {_lock(name)}"
        return f"is at {model.revision}, but the competition asks for {wanted}. {repair}"
    return None


def _lock(name: str) -> str:
    return f"On a machine that reaches the hub run: gen-bundle image lock {name}."


def _settled(model: Model, folder: Path | None) -> dict[str, Any]:
    """Revision, files, licence and number; a folder that is not locked is named by a digest of its files."""
    files, revision = model.files, model.revision
    if folder is not None and not model.locked:
        files = _digests(folder, needed_files(path.name for path in folder.iterdir() if path.is_file()))
        revision = f"local-{hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]}"
    return {"revision": revision, "files": files, "licence": model.licence, "number": model.number}


def _missing(folder: Path, names: Iterable[str]) -> list[str]:
    return [name for name in names if not (folder / name).is_file()]


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        with (folder / name).open("rb") as stream:
            found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found
