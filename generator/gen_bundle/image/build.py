"""Gathers a build context and builds an image from it with `docker build`, progress shown."""

import hashlib
import importlib.metadata
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.image.docker_command import docker_shown, require_builder
from gen_bundle.image.models_file import BaseImage
from gen_bundle.image.pip_settings import pip_settings
from gen_bundle.image.request import ImageRequest
from gen_bundle.image.weights import Weights
from gen_bundle.resources import resource

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
        path.chmod(0o755 if path.is_dir() or path.name == "scoring_selftest.py" else 0o644)


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
