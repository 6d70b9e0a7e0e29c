"""Reads and writes `docker/models.yaml`, which names the models that images can carry."""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gen_bundle.declaration.source import read_source
from gen_bundle.errors import UserError

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Revision = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.+ -]*(/[A-Za-z0-9_][\w.+ -]*)*$")]
Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$")]
Files = dict[FileName, Sha256]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Model(_Entry):
    """One model; see the head of `docker/models.yaml` for the fields."""

    revision: Revision | None = None
    files: Files | None = None
    licence: str | None = None
    number: float | None = None
    path: str | None = None

    @property
    def locked(self) -> bool:
        """Whether it is settled which files these are."""
        return self.revision is not None and bool(self.files)


class Punkt(_Entry):
    """The sentence splitter's data: file below `tokenizers/punkt_tab/` → sha256."""

    files: Files | None = None


class Manifest(_Entry):
    """All models and the sentence splitter's data."""

    models: dict[Repository, Model]
    punkt: Punkt


def read_manifest(path: Path) -> Manifest:
    """Read a manifest strictly.

    Raises:
        UserError: one message for each fault, with its line.
    """
    source = read_source(path)
    if source.problems:
        raise UserError(*source.problems)
    try:
        return Manifest.model_validate(source.data)
    except ValidationError as error:
        raise UserError(
            *(
                f"{source.position(tuple(fault['loc']))}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}."
                for fault in error.errors(include_url=False)
            )
        ) from None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest, keeping the comment at the head of the file."""
    head = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith("#"):
            break
        head.append(line)
    data: dict[str, Any] = manifest.model_dump()
    for model in data["models"].values():
        if model["path"] is None:
            del model["path"]
    body = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    path.write_text("".join(head) + body, encoding="utf-8")


class _Dumper(yaml.SafeDumper):
    """Quotes every text that does not start with a letter: a digest such as 12…34e5 would be read as a number."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style=None if text[:1].isalpha() else '"'
    ),
)
