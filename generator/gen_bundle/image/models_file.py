"""Reads and writes `docker/models.yaml`, which names the models that images can carry."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gen_bundle.declaration.source import read_source
from gen_bundle.errors import UserError
from gen_bundle.whole_file import write_whole

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


class Model(_Strict):
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
        """What these files (name → sha256) have otherwise than expected: a source is wrong, or was tampered with."""
        return [
            f"expected.{name}: its sha256 is {files.get(name, 'unknown, the file is not there')}; in "
            f"{known.sources} public source{'s' if known.sources > 1 else ''} it was {known.sha256}. "
            "Find out which is right, and delete this line only if it is these files."
            for name, known in (self.expected or {}).items()
            if files.get(name) != known.sha256
        ]

    @model_validator(mode="after")
    def _expected_of_a_revision(self) -> "Model":
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
        """What to build from: exactly the locked image, or the one that the name means today."""
        return f"{self.name}@{self.digest}" if self.digest else self.name


class ModelsFile(_Strict):
    """All models, the sentence splitter's data, and the image to start from."""

    models: dict[Repository, Model]
    punkt: Punkt
    base_image: BaseImage = BaseImage()


def read_models_file(path: Path) -> ModelsFile:
    """Read a models file strictly.

    Raises:
        UserError: one message for each fault, with its line.
    """
    source = read_source(path)
    if source.problems:
        raise UserError(*source.problems)
    try:
        return ModelsFile.model_validate(source.data)
    except ValidationError as error:
        raise UserError(
            *(
                f"{source.position(tuple(fault['loc']))}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}."
                for fault in error.errors(include_url=False)
            )
        ) from None


def write_models_file(path: Path, models_file: ModelsFile) -> None:
    """Write a models file, keeping the comment at the head of the file."""
    head = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith("#"):
            break
        head.append(line)
    data: dict[str, Any] = models_file.model_dump()
    for model in data["models"].values():
        for name in ("expected", "path"):
            if model[name] is None:
                del model[name]
    body = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    write_whole(path, ("".join(head) + body).encode())


class _Dumper(yaml.SafeDumper):
    """Quotes every text that does not start with a letter: a digest such as 12…34e5 would be read as a number."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if text[:1].isalpha() else '"'
    ),
)
