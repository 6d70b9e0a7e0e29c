"""Builds, checks and pushes the scoring image: verbs of `gen-bundle image`, one after the other."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gen_bundle.dry_run.engines.docker import registry_digests
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.local_server import local_server
from gen_bundle.ground.resources import resource
from gen_bundle.ground.starting import pip_environment, python
from gen_bundle.image.docker_command import (
    docker_command,
    docker_output,
    docker_shown,
    inspect_image,
    require_builder,
)
from gen_bundle.image.models import BaseImage, Weights
from gen_bundle.image.request import ImageRequest

PACKAGES = "packages.txt"
CUDA = {"gen-bundle.cuda": "13.0", "gen-bundle.driver": "580.65"}  # of the locked torch, and the host driver it needs


def build_image(request: ImageRequest, weights: Weights, base_image: str = BaseImage().name) -> None:
    """Build and tag the image, starting from `base_image`.

    `--network=host` lets the build reach a folder of wheels that is served on this machine, and works with engines that
    have no bridge. The platform's workers are amd64, so is the image.

    Raises:
        UserError: no engine can build it, or the build failed; its own output, shown before, says why.
    """
    require_builder()
    with tempfile.TemporaryDirectory(prefix="gen-bundle-image-") as temporary:
        context, secrets = Path(temporary) / "context", Path(temporary) / "secrets"
        context.mkdir()
        secrets.mkdir(mode=0o700)
        gather_context(context, request, weights)
        options = ["--network=host", "--platform=linux/amd64", "--target=scoring", f"--tag={request.tag}"]
        arguments = {"BASE_IMAGE": base_image, "PACKAGES": request.packages, "VARIANT": request.variant}
        options += [f"--build-arg={key}={value}" for key, value in arguments.items()]
        options += [f"--label={key}={value}" for key, value in labels(request, weights).items()]
        if token := os.environ.get("HF_TOKEN"):
            (secrets / "hf_token").write_text(token)
            options.append(f"--secret=id=hf_token,src={secrets / 'hf_token'}")
        with pip_settings(secrets) as settings:
            if settings is not None:
                options.append(f"--secret=id=pip_conf,src={settings}")
            if docker_shown("build", *options, str(context)):
                raise UserError(
                    f"{request.tag}: the image could not be built; the lines above say why (docs/image.md)."
                )


def gather_context(folder: Path, request: ImageRequest, weights: Weights) -> None:
    """Fill an empty folder with what the Dockerfile copies: a few files, and the folders that weights come from.

    The image takes the files' modes from here, so they are set independently of the umask.
    """
    docker = resource("docker")
    for name in ("Dockerfile", "bake.py", "scoring_selftest.py", "requirements.cpu.txt", "requirements.cuda.txt"):
        shutil.copyfile(docker / name, folder / name)
    (folder / PACKAGES).write_text(request.packages_text, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(weights.manifest, indent=2), encoding="utf-8")
    (folder / "sources").mkdir()
    wanted = [model for model in weights.manifest["models"] if model["path"]]
    if weights.manifest["punkt"] is not None and weights.manifest["punkt"]["path"]:
        wanted.append(weights.manifest["punkt"])
    for entry in wanted:
        for name in entry["files"]:
            target = folder / entry["path"] / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(weights.sources[entry["path"]] / name, target)
    for path in folder.rglob("*"):
        mode = 0o755 if path.is_dir() or path.name == "scoring_selftest.py" else 0o644
        path.chmod(mode)


def labels(request: ImageRequest, weights: Weights) -> Mapping[str, str]:
    """Return what the image says about itself; `gen-bundle.models` lists the models as NAME@REVISION."""
    found = {
        "gen-bundle.packages": " ".join(request.locks),
        "gen-bundle.variant": request.variant,
        "gen-bundle.models": " ".join(weights.models),
    }
    return found | CUDA if request.variant == "cuda" else found


PASSED_ON = ("index-url", "extra-index-url", "trusted-host", "default-timeout", "timeout", "find-links")


@contextlib.contextmanager
def pip_settings(folder: Path) -> Iterator[Path | None]:
    """Write `folder/pip.conf` for a build; None where this machine's pip has no settings to pass on."""
    with contextlib.ExitStack() as servers:
        lines = []
        for key, value in machine_settings().items():
            values = [place for word in value.split() if (place := _reachable(key, word, servers))]
            if values:
                lines.append(f"{key.removeprefix('default-')} = {' '.join(values)}")
        if not lines:
            yield None
            return
        target = folder / "pip.conf"
        target.write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
        target.chmod(0o600)
        yield target


def machine_settings() -> dict[str, str]:
    """Return the settings to pass on, as `pip config list` gives them: the environment's before those of files."""
    command = python("-m", "pip", "config", "list")
    listed = subprocess.run(command, capture_output=True, text=True, env=pip_environment()).stdout
    settings: dict[str, str] = {}
    for section in (":env:", "install", "global"):
        for line in listed.splitlines():
            name, _, value = line.partition("=")
            key = name.removeprefix(f"{section}.")
            if key in PASSED_ON:
                settings.setdefault(key, value.strip().strip("'\""))
    return settings


def _reachable(key: str, value: str, servers: contextlib.ExitStack) -> str | None:
    """Return the value as a build can use it: a folder of wheels is served; an index kept in a folder is left out."""
    address = urlsplit(value)
    if address.scheme in ("http", "https") or key not in ("find-links", "index-url", "extra-index-url"):
        return value
    folder = Path(value)
    if address.scheme == "file":
        folder = Path(unquote(address.path))
    if key != "find-links" or not folder.is_dir():
        return None
    server = servers.enter_context(local_server(folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    servers.callback(thread.join)
    servers.callback(server.shutdown)  # which comes first: callbacks are called backwards
    return f"http://127.0.0.1:{server.server_port}/"


WORKER_DISK_GB = 15.0  # an image of 17 GB filled the default queue's workers (codalab/codabench issue 1760)


@dataclass(frozen=True)
class Observation:
    """One thing looked at; with `problem` the image would not work on the platform."""

    name: str
    problem: bool
    text: str


def check_image(request: ImageRequest, worker_disk_gb: float = WORKER_DISK_GB, gpu: bool = False) -> list[Observation]:
    """Return everything that would make the image fail, or surprise, on a worker.

    Raises:
        UserError: the engine does not have the image.
    """
    image = inspect_image(request.tag)
    return [*inspected(image, request, worker_disk_gb), run_offline(request.tag, gpu)]


def inspected(image: dict[str, Any], request: ImageRequest, worker_disk_gb: float) -> Iterator[Observation]:
    """Yield what can be seen without a run; `image` is what `docker image inspect` gives."""
    config = image["Config"]
    entrypoint = config.get("Entrypoint")
    text = "no ENTRYPOINT"
    if entrypoint:
        text = f"ENTRYPOINT is {entrypoint}: the worker appends its command to it. Expected none, only CMD."
    yield Observation("entrypoint", bool(entrypoint), text)
    user = config.get("User") or "root"
    is_root = user in ("root", "0", "0:0")
    text = "root, whose capabilities the worker drops"
    if not is_root:
        text = f"USER is {user}: it cannot write the worker's folders, which belong to root. Expected root."
    yield Observation("user", not is_root, text)
    platform = f"{image['Os']}/{image['Architecture']}"
    yield Observation("platform", platform != "linux/amd64", f"{platform} (workers are linux/amd64)")
    size = image["Size"] / 1e9
    yield Observation("size", size > worker_disk_gb, f"{size:.2f} GB unpacked; room for {worker_disk_gb:g} GB assumed")
    digests = registry_digests(image)
    push = f"gen-bundle image push {request.name} --to REGISTRY/NAME:TAG"
    text = digests[0] if digests else f"not in a registry yet, and workers always pull: {push}"
    yield Observation("registry", not digests, text)
    labels = config.get("Labels") or {}
    yield _models(labels, request)
    if request.packages == "models":
        built = text = labels.get("gen-bundle.variant", "unknown")
        if built != request.variant:
            text = f"is {built}, wanted {request.variant}. Build it again: gen-bundle image build {request.name}"
        elif built == "cuda":
            cuda, driver = labels.get("gen-bundle.cuda"), labels.get("gen-bundle.driver")
            text = f"CUDA {cuda}, on hosts with NVIDIA driver {driver} or later"
        yield Observation("variant", built != request.variant, text)


def _models(labels: dict[str, str], request: ImageRequest) -> Observation:
    baked = labels.get("gen-bundle.models", "").split()
    revisions = {}
    for entry in baked:
        name, _, revision = entry.rpartition("@")
        revisions[name] = revision
    missing = []
    for name, wanted in request.models.items():
        if name not in revisions or wanted not in (None, revisions[name]):
            at = f"@{wanted}" if wanted else ""
            missing.append(f"{name}{at}")
    if missing:
        again = f"Build it again: gen-bundle image build {request.name}"
        return Observation("models", True, f"lacks {', '.join(missing)}. {again}")
    return Observation("models", False, ", ".join(baked) or "none")


def run_offline(tag: str, gpu: bool) -> Observation:
    """Return the self-test, run without a network and with no more rights than the worker grants."""
    options = ["--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    program = ["scoring-selftest", "--json"]
    if gpu:
        options.append("--gpus=all")
        program.append("--gpu")
    done = subprocess.run([docker_command(), "run", *options, tag, *program], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or ["no output"]
        return Observation("self-test", True, f"does not run: {lines[-1]}")
    failed = [f"{check['name']}: {check['detail']}" for check in report["checks"] if not check["ok"]]
    return Observation("self-test", bool(failed), "; ".join(failed) or "runs offline, all checks passed")


MAX_NAME = 128  # Codabench's field docker_image (1.25)


def push_image(tag: str, target: str) -> str:
    """Push `tag` as `target` (REGISTRY/NAME:TAG).

    Returns:
        The value for `docker_image`: the name with the digest where it fits into Codabench's 128 characters, else
        `target`, whose tag should then never move.

    Raises:
        UserError: the name has no tag, or the push failed; its own output, shown before, says why.
    """
    name, colon, version = target.rpartition(":")
    if not colon or "/" in version:
        raise UserError(f"--to {target}: has no tag. Expected REGISTRY/NAME:TAG, with a tag that will not move.")
    if len(target) > MAX_NAME:
        raise UserError(f"--to {target}: is longer than the {MAX_NAME} characters that Codabench allows.")
    docker_output("tag", tag, target)
    if docker_shown("push", target):
        raise UserError(f"{target}: could not be pushed; the lines above say why. Log in with: docker login")
    short = name.removeprefix("docker.io/").removeprefix("library/")  # as Docker writes names of its own hub
    for known in inspect_image(target).get("RepoDigests") or []:
        known_name, _, digest = known.rpartition("@")
        exact = f"{name}@{digest}"
        if known_name in (name, short) and len(exact) <= MAX_NAME:
            return exact
    return target
