"""Fills in the revisions and digests of the models file, on a machine that reaches the hub; nothing is ever guessed."""

import hashlib
import io
import json
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from gen_bundle.errors import UserError
from gen_bundle.image.docker_command import docker_output
from gen_bundle.image.models import (
    PUNKT_URL,
    ImageModel,
    ModelsFile,
    Punkt,
    describe,
    read_models_file,
    write_models_file,
)
from gen_bundle.image.request import ImageRequest


def lock(request: ImageRequest, models_path: Path, report: Callable[[str], None]) -> bool:
    """Lock every model of the request that is not locked, the sentence splitter's data, and the base image.

    A model that the file does not name yet is added. What is locked stays as it is. The base image stays without a
    digest where no container engine or no registry answers, which is reported.

    Returns:
        Whether anything changed.

    Raises:
        UserError: the hub cannot be reached, lacks a model, or has other files than were expected; the file then
            stays as it was.
    """
    known = read_models_file(models_path)
    models = dict(known.models)
    problems: list[str] = []
    for repository, wanted in request.models.items():
        model = models.get(repository, ImageModel())
        if model.locked or model.path is not None:
            continue
        try:
            models[repository] = _locked(model, repository, wanted, report)
        except _UnlockableError as error:
            problems += [f"{models_path}: models.{repository}.{text}" for text in error.args]
    if problems:
        raise UserError(*problems)
    punkt = known.punkt
    if request.packages == "models" and punkt.files is None:
        punkt = Punkt(files=_punkt_files())
        report(f"punkt: locked, {len(punkt.files or {})} files")
    base_image = known.base_image
    if base_image.digest is None:
        try:
            base_image = base_image.model_copy(update={"digest": _registry_digest(base_image.name)})
            report(f"{base_image.name}: locked at {base_image.digest}")
        except UserError as error:
            report(f"{base_image.name}: is left without a digest ({error}). Lock it where Docker reaches a registry.")
    return _store(models_path, known, ModelsFile(models=models, punkt=punkt, base_image=base_image))


class _UnlockableError(Exception):
    """A model is not what the file or the competition says; the arguments name the field, and what is wrong."""


def _locked(model: ImageModel, repository: str, wanted: str | None, report: Callable[[str], None]) -> ImageModel:
    """The model with what the hub says of it."""
    if model.revision is not None and wanted not in (None, model.revision):
        raise _UnlockableError(
            f"revision: is {model.revision}, but the competition asks for {wanted}. "
            "Expected the same; to lock that one, set revision to null here and take expected away."
        )
    found = describe(repository, model.revision or wanted)
    if contradictions := model.contradictions(found.files):
        raise _UnlockableError(*contradictions)
    confirmed = f", {len(model.expected)} of them as expected" if model.expected else ""
    report(f"{repository}: locked at {found.revision}, {len(found.files)} files{confirmed}")
    facts = {"revision": found.revision, "files": found.files, "licence": model.licence or found.licence}
    return model.model_copy(update={**facts, "expected": None})


def _registry_digest(name: str) -> str:
    """The digest of an image (NAME:TAG) in its registry; the engine pulls it, as a build would.

    Raises:
        UserError: no engine or no registry answers.
    """
    docker_output("pull", "--quiet", name)
    digests = json.loads(docker_output("image", "inspect", "--format", "{{json .RepoDigests}}", name)) or []
    for digest in digests:
        if digest.rpartition("@")[0] == name.rpartition(":")[0]:
            found: str = digest.rpartition("@")[2]
            return found
    raise UserError(f"the engine knows no digest of {name}")


def lock_numbers(request: ImageRequest, models_path: Path, report: Callable[[str], None]) -> bool:
    """Store what the built image's self-test computes with each model, where no number is stored yet.

    Raises:
        UserError: the image is missing, or its self-test fails, or it carries another revision of a model.
    """
    known = read_models_file(models_path)
    selftest = json.loads(docker_output("run", "--rm", "--network=none", request.tag, "scoring-selftest", "--json"))
    baked = docker_output("image", "inspect", "--format", '{{index .Config.Labels "gen-bundle.models"}}', request.tag)
    models = dict(known.models)
    for repository, number in selftest["numbers"].items():
        model = models.get(repository)
        if repository not in request.models or model is None or model.number is not None:
            continue
        if model.locked and f"{repository}@{model.revision}" not in baked.split():
            raise UserError(
                f"{request.tag}: does not carry {repository} at the locked revision {model.revision}. "
                f"Build it again: gen-bundle image build {request.name}"
            )
        report(f"{repository}: number {number}")
        models[repository] = model.model_copy(update={"number": number})
    return _store(models_path, known, known.model_copy(update={"models": models}))


def _store(path: Path, before: ModelsFile, after: ModelsFile) -> bool:
    if after == before:
        return False
    try:
        checked = ModelsFile.model_validate(after.model_dump())
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)]
        raise UserError(*(f"{path}: cannot hold what the hub answered: {fault}" for fault in faults)) from None
    write_models_file(path, checked)
    return True


def _punkt_files() -> dict[str, str]:
    """The English files of nltk's `punkt_tab` and their digests."""
    try:
        with urllib.request.urlopen(PUNKT_URL, timeout=60) as response:  # noqa: S310
            archive = zipfile.ZipFile(io.BytesIO(response.read()))
    except OSError as error:
        raise UserError(f"{PUNKT_URL}: cannot be reached ({error}). Lock on a machine that reaches it.") from None
    with archive:
        return {
            name.removeprefix("punkt_tab/"): hashlib.sha256(archive.read(name)).hexdigest()
            for name in sorted(archive.namelist())
            if name.startswith("punkt_tab/english/") and not name.endswith("/")
        }
