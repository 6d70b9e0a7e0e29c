"""Gathers a build context and builds an image from it with `docker build`, progress shown."""

import contextlib
import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gen_bundle.errors import UserError
from gen_bundle.image.docker_command import docker_output, docker_shown, inspect_image, require_builder
from gen_bundle.image.models import BaseImage, Weights
from gen_bundle.image.request import ImageRequest
from gen_bundle.local_server import local_server
from gen_bundle.resources import resource
from gen_bundle.starting import pip_environment, python

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
        options += [f"--label={key}={value}" for key, value in labels(request, weights, base_image, context).items()]
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


def labels(request: ImageRequest, weights: Weights, base_image: str, context: Path) -> Mapping[str, str]:
    """What the image says about itself; `gen-bundle.models` lists the models as NAME@REVISION."""
    locks = [f"requirements.{request.variant}.txt", PACKAGES] if request.packages == "models" else [PACKAGES]
    locked = b"".join((context / name).read_bytes() for name in locks)
    base_name, _, base_digest = base_image.partition("@")
    licences = {model["licence"] for model in weights.manifest["models"] if model["licence"]}
    found = {
        "org.opencontainers.image.title": f"Scoring image of {request.name}",
        "org.opencontainers.image.version": importlib.metadata.version("gen-bundle"),
        "org.opencontainers.image.base.name": base_name,
        "gen-bundle.packages": " ".join(request.locks),
        "gen-bundle.variant": request.variant,
        "gen-bundle.models": " ".join(weights.models),
        "gen-bundle.model-licences": " ".join(sorted(licences)),
        "gen-bundle.lock": f"sha256:{hashlib.sha256(locked).hexdigest()}",
    }
    if base_digest:
        found["org.opencontainers.image.base.digest"] = base_digest
    return found | (CUDA if request.variant == "cuda" else {})


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
    """The settings to pass on, as `pip config list` gives them: those of the environment come before those of files."""
    settings: dict[str, str] = {}
    listed = [line.partition("=") for line in _pip_config()]
    for section in (":env:", "install", "global"):
        for name, _, value in listed:
            key = name.removeprefix(f"{section}.")
            if key in PASSED_ON:
                settings.setdefault(key, value.strip().strip("'\""))
    return settings


def _pip_config() -> list[str]:
    pip = shutil.which("pip") or shutil.which("pip3")
    commands = [python("-m", "pip")]
    if pip:
        commands.append([pip])
    for command in commands:
        done = subprocess.run([*command, "config", "list"], capture_output=True, text=True, env=pip_environment())
        if done.returncode == 0:
            return done.stdout.splitlines()
    return []


def _reachable(key: str, value: str, servers: contextlib.ExitStack) -> str | None:
    """The value as a build can use it: a folder of wheels becomes an address; an index kept in a folder is left out."""
    address = urlsplit(value)
    if address.scheme in ("http", "https") or key not in ("find-links", "index-url", "extra-index-url"):
        return value
    folder = Path(value)
    if address.scheme == "file":
        folder = Path(unquote(address.path))
    if key != "find-links" or not folder.is_dir():
        return None
    return servers.enter_context(_served(folder))


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    """The address of a folder, served on the loopback address."""
    with local_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


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
    digests = inspect_image(target).get("RepoDigests") or []
    short = name.removeprefix("docker.io/").removeprefix("library/")  # as Docker writes names of its own hub
    digest = next((digest.rpartition("@")[2] for digest in digests if digest.rpartition("@")[0] in (name, short)), None)
    exact = f"{name}@{digest}" if digest else target
    return exact if len(exact) <= MAX_NAME else target
