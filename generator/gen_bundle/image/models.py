"""Reads and writes `docker/models.yaml`, which names the models that images can carry."""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gen_bundle.declaration.source import read_source
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_files import file_digest, write_whole
from gen_bundle.image.request import ImageRequest
from scoring_kit.base.texts import counted

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Revision = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.+ -]*(/[A-Za-z0-9_][\w.+ -]*)*$")]
Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$")]
Files = dict[FileName, Sha256]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Expected(_Strict):
    """A file's digest as public sources have it, and how many of them independently of each other."""

    sha256: Sha256
    sources: Annotated[int, Field(ge=1)]


class ImageModel(_Strict):
    """One model; see the head of `docker/models.yaml` for the fields."""

    revision: Revision | None = None
    files: Files | None = None
    expected: dict[FileName, Expected] | None = None
    licence: str | None = None
    number: float | None = None
    path: str | None = None

    @property
    def locked(self) -> bool:
        """Whether it is settled which files these are."""
        return self.revision is not None and bool(self.files)

    def contradictions(self, files: Mapping[str, str]) -> list[str]:
        """Return where these files (name → sha256) are not as expected: a source is wrong, or was tampered with."""
        found = []
        for name, known in (self.expected or {}).items():
            if files.get(name) != known.sha256:
                found.append(
                    f"expected.{name}: its sha256 is {files.get(name, 'unknown, the file is not there')}; in "
                    f"{counted(known.sources, 'public source')} it was {known.sha256}. "
                    "Find out which is right, and delete this line only if it is these files."
                )
        return found

    @model_validator(mode="after")
    def _expected_of_a_revision(self) -> "ImageModel":
        if self.expected and (self.revision is None or self.files is not None):
            raise ValueError("expected digests are those of a revision whose files are still null")
        return self


class Punkt(_Strict):
    """The sentence splitter's data: file below `tokenizers/punkt_tab/` → sha256."""

    files: Files | None = None


class BaseImage(_Strict):
    """The image with Python 3.11 that every image starts from: its name and, once locked, its digest."""

    name: str = "python:3.11-slim-bookworm"
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None

    @property
    def reference(self) -> str:
        """Return what to build from: exactly the locked image, or the one that the name means today."""
        return f"{self.name}@{self.digest}" if self.digest else self.name


class ModelsFile(_Strict):
    """All models, the sentence splitter's data, and the image to start from."""

    models: dict[Repository, ImageModel]
    punkt: Punkt
    base_image: BaseImage = BaseImage()


def read_models_file(path: Path) -> ModelsFile:
    """Read a models file strictly; a UserError with one message for each fault, with its line."""
    source = read_source(path)
    if source.problems:
        raise UserError(*source.problems)
    try:
        return ModelsFile.model_validate(source.data)
    except ValidationError as error:
        faults = []
        for fault in error.errors(include_url=False):
            place = source.position(tuple(fault["loc"]))
            faults.append(f"{place}: {'.'.join([str(one) for one in fault['loc']])}: {fault['msg']}.")
        raise UserError(*faults) from None


def write_models_file(path: Path, models_file: ModelsFile) -> None:
    """Write a models file, keeping the comment at the head of the file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    head = takewhile(lambda line: line.startswith("#"), lines)
    data: dict[str, Any] = models_file.model_dump()
    for model in data["models"].values():
        for name in ("expected", "path"):
            if model[name] is None:
                del model[name]
    body = yaml.dump(data, Dumper=_ModelsDumper, sort_keys=False, allow_unicode=True, width=120)
    write_whole(path, ("".join(head) + body).encode())


class _ModelsDumper(yaml.SafeDumper):
    """Quotes every text that does not start with a letter: a digest such as 12…34e5 would be read as a number."""


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = None if text[:1].isalpha() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_ModelsDumper.add_representer(str, _quoted)


def endpoint() -> str:
    """Return the hub's address; HF_ENDPOINT names a mirror, as it does for huggingface_hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def needed_files(names: Iterable[str]) -> list[str]:
    """Return what loading a model needs: its weights once (safetensors if possible), configuration, tokenizer."""
    safetensors, pickled, others = [], [], []
    for name in names:
        if "/" in name:
            continue
        if name.endswith(".safetensors"):
            safetensors.append(name)
        elif re.fullmatch(r"pytorch_model.*\.bin", name):
            pickled.append(name)
        elif name.endswith((".json", ".txt", ".model")):
            others.append(name)
    return sorted((safetensors or pickled) + others)


PUNKT_FOLDER = Path("tokenizers") / "punkt_tab"
PUNKT_URL = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"


@dataclass(frozen=True)
class Weights:
    """The weights that the bake step gets.

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
        model = known.models.get(repository, ImageModel())
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
    """Return why the sentence splitter's data cannot be baked in, or None."""
    if folder is None:
        return None if files else f"is not locked. {_lock(name)} Or name a folder of nltk data: --nltk-data, NLTK_DATA."
    missing = _missing(folder, files or {})
    if missing or not files:
        return f"{folder} lacks {', '.join(missing) or 'english'}. Expected nltk's punkt_tab data there."
    return None


def _fault(model: ImageModel, wanted: str | None, folder: Path | None, name: str) -> str | None:
    """Return why a model cannot be baked in, or None."""
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


def _settled(model: ImageModel, folder: Path | None) -> dict[str, Any]:
    """Revision, files, licence and number; a folder that is not locked is named by a digest of its files."""
    files, revision = model.files, model.revision
    if folder is not None and not model.locked:
        files = _digests(folder, needed_files(path.name for path in folder.iterdir() if path.is_file()))
        revision = f"local-{hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]}"
    return {"revision": revision, "files": files, "licence": model.licence, "number": model.number}


def _missing(folder: Path, names: Iterable[str]) -> list[str]:
    return [name for name in names if not (folder / name).is_file()]


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: file_digest(folder / name) for name in names}
