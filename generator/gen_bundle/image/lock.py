"""Locks what goes into the scoring image: models from the hub, the base image, and the competition's requirements."""

import hashlib
import http.client
import io
import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError

from gen_bundle.build.package.libraries import METRICS, OWN_LOCK_HEAD, PLATFORMS, base_name, missing, own_lock, versions
from gen_bundle.codabench.worker import PACKAGES
from gen_bundle.codabench.worker import PYTHON as PLATFORM_PYTHON
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.resources import lock_text, resource
from gen_bundle.ground.starting import pip_environment, python
from gen_bundle.image.docker_command import docker_output
from gen_bundle.image.models import (
    PUNKT_URL,
    ImageModel,
    ModelsFile,
    Punkt,
    endpoint,
    needed_files,
    read_models_file,
    write_models_file,
)
from gen_bundle.image.request import PYTHON, ImageRequest
from scoring_kit.base.texts import counted

PINNED = re.compile(r"The user requested \(constraint\) (.+?)==(.+)")
"""In pip's words: a version that the image has."""


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
        if not (model.locked or model.path is not None):
            models[repository], faults = _locked(model, repository, wanted, report)
            problems += [f"{models_path}: models.{repository}.{fault}" for fault in faults]
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


def _locked(
    model: ImageModel, repository: str, wanted: str | None, report: Callable[[str], None]
) -> tuple[ImageModel, list[str]]:
    """Return the model with what the hub says of it; and where it is not what the file or the competition says."""
    if model.revision is not None and wanted not in (None, model.revision):
        return model, [
            f"revision: is {model.revision}, but the competition asks for {wanted}. "
            "Expected the same; to lock that one, set revision to null here and take expected away."
        ]
    found = describe(repository, model.revision or wanted)
    faults = model.contradictions(found["files"])
    if not faults:
        confirmed = f", {len(model.expected)} of them as expected" if model.expected else ""
        report(f"{repository}: locked at {found['revision']}, {len(found['files'])} files{confirmed}")
    found["licence"] = model.licence or found["licence"]
    return model.model_copy(update={**found, "expected": None}), faults


def describe(repository: str, revision: str | None = None) -> dict[str, Any]:
    """Return the `revision`, `files` with their sha256, and `licence` of a model, at a revision or the head of `main`.

    The weights' digests come from the hub's own records (they are stored by sha256); the small files are fetched.
    Queries `/api/models/REPOSITORY/revision/REVISION?blobs=true`, as huggingface_hub's
    `model_info(files_metadata=True)` does.

    Raises:
        UserError: the hub cannot be reached, or has no such model or revision.
    """
    address = f"/api/models/{repository}/revision/{quote(revision or 'main', safe='')}?blobs=true"
    try:
        answer = json.loads(_get(address))
        commit: str = answer["sha"]
        digests = {entry["rfilename"]: (entry.get("lfs") or {}).get("sha256") for entry in answer["siblings"]}
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UserError(f"{endpoint()}{address}: does not answer as the hub does. Is HF_ENDPOINT right?") from None
    files = {}
    for name in needed_files(digests):
        files[name] = digests[name] or hashlib.sha256(_get(f"/{repository}/resolve/{commit}/{quote(name)}")).hexdigest()
    licence = (answer.get("cardData") or {}).get("license")
    if not isinstance(licence, str):
        licence = None
    return {"revision": commit, "files": files, "licence": licence}


def _get(path: str) -> bytes:
    url = endpoint() + path
    request = urllib.request.Request(url)  # noqa: S310 — the scheme is the endpoint's
    if token := os.environ.get("HF_TOKEN"):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            content: bytes = response.read()
    except urllib.error.HTTPError as error:
        with error:
            raise UserError(
                f"{url}: the hub answers {error.code} {error.reason}. "
                "Expected the name of a public model; for a gated one set HF_TOKEN."
            ) from None
    except (OSError, http.client.HTTPException) as error:
        raise UserError(f"{url}: the hub cannot be reached ({error}). Lock on a machine that reaches it.") from None
    return content


def _punkt_files() -> dict[str, str]:
    """Return the English files of nltk's `punkt_tab` and their digests."""
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


def _registry_digest(name: str) -> str:
    """Return the digest of an image (NAME:TAG) in its registry; the engine pulls it, as a build would."""
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
        messages = []
        for fault in error.errors(include_url=False):
            at = ".".join(str(step) for step in fault["loc"])
            messages.append(f"{path}: cannot hold what the hub answered: {at}: {fault['msg']}")
        raise UserError(*messages) from None
    write_models_file(path, checked)
    return True


def lock_requirements(request: ImageRequest, say: Callable[[str], None]) -> None:
    """Resolve a competition's own requirements with pip, and write every package with its hash into its lock file.

    A file that fits already is left as it is, and one that nothing needs is removed.

    Raises:
        UserError: pip cannot resolve them, with its own words.
    """
    wanted, target = request.requirements, request.lock_file
    if not wanted:
        if target.is_file():
            target.unlink()
            say(f"{target}: removed, since bundle.yaml has no requirements")
        return
    if request.platform:
        python_version, there = PLATFORM_PYTHON, PACKAGES
        pins = versions(lock_text((METRICS,))) | PACKAGES
    else:
        # the image with models has torch, and what it brings, from a list of its own
        text = lock_text(request.locks)
        if request.packages == "models":
            text += (resource("docker") / "requirements.cuda.txt").read_text(encoding="utf-8")
        python_version, pins = PYTHON, versions(text)
        there = pins
    held = there | versions(own_lock(target, python_version))
    if not missing(wanted, held):
        return
    found = _resolved(wanted, pins, python_version)
    lines = []
    for name, version, digest in sorted(found):
        if name not in there:
            lines.append(f"{name}=={version} \\\n    --hash=sha256:{digest}\n")
    target.write_text(OWN_LOCK_HEAD.format(python_version) + "".join(lines), encoding="utf-8")
    say(f"{target}: locked {counted(len(lines), 'package')}")


def _resolved(wanted: Sequence[str], pins: Mapping[str, str], python_version: str) -> Iterator[tuple[str, str, str]]:
    """(name, version, SHA-256) of everything that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        constraints, report = Path(folder) / "constraints.txt", Path(folder) / "report.json"
        pinned = "".join(f"{name}=={version}\n" for name, version in pins.items())
        constraints.write_text(pinned, encoding="utf-8")
        command = python("-m", "pip", "install", "--dry-run", "--ignore-installed", "--progress-bar=off")
        command += ["--only-binary=:all:", f"--python-version={python_version}", "--implementation=cp"]
        command += [f"--platform={platform}" for platform in (*PLATFORMS, "linux_x86_64")]
        command += [f"--constraint={constraints}", f"--report={report}", f"--target={folder}/target", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=pip_environment())
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or [done.stderr.strip()]
            raise UserError(
                *(f"requirements: {line}" for line in _conflict(done.stdout)),
                *(f"requirements: {line.removeprefix('ERROR: ')}" for line in errors),
                advice="Expected versions that pip finds as wheels and that agree with the tool's own locks.",
            )
        installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    for one in installed:
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        yield base_name(one["metadata"]["name"]), one["metadata"]["version"], digest


def _conflict(printed: str) -> list[str]:
    """Return what pip says of versions that do not agree: what asks for which, and what the image has."""
    lines = iter(printed.splitlines())
    causes: list[str] = []
    if any(line.startswith("The conflict is caused by") for line in lines):
        for line in takewhile(str.strip, lines):
            causes.append(PINNED.sub(r"the image has \1 \2", line.strip()))
    return [f"{', and '.join(causes)}."] if causes else []
