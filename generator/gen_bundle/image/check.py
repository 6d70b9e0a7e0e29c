"""Looks at a built image as Codabench's compute worker will use it (compute_worker.py of 1.25)."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gen_bundle.image.docker_command import docker_command, inspect_image
from gen_bundle.image.request import ImageRequest
from gen_bundle.twin.engines.docker import registry_digests

WORKER_DISK_GB = 15.0  # an image of 17 GB filled the default queue's workers (codalab/codabench issue 1760)


@dataclass(frozen=True)
class Observation:
    """One thing looked at; with `problem` the image would not work on the platform."""

    name: str
    problem: bool
    text: str


def check_image(request: ImageRequest, worker_disk_gb: float = WORKER_DISK_GB, gpu: bool = False) -> list[Observation]:
    """Everything that would make the image fail, or surprise, on a worker.

    Raises:
        UserError: the engine does not have the image.
    """
    image = inspect_image(request.tag)
    return [*inspected(image, request, worker_disk_gb), run_offline(request.tag, gpu)]


def inspected(image: dict[str, Any], request: ImageRequest, worker_disk_gb: float) -> Iterator[Observation]:
    """What can be seen without a run; `image` is what `docker image inspect` gives."""
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
        yield _variant(labels, request)


def _variant(labels: dict[str, str], request: ImageRequest) -> Observation:
    built = labels.get("gen-bundle.variant", "unknown")
    if built != request.variant:
        text = f"is {built}, wanted {request.variant}. Build it again: gen-bundle image build {request.name}"
        return Observation("variant", True, text)
    if built == "cpu":
        return Observation("variant", False, "cpu")
    needs = (
        f"CUDA {labels.get('gen-bundle.cuda')}, on hosts with NVIDIA driver {labels.get('gen-bundle.driver')} or later"
    )
    return Observation("variant", False, needs)


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
    """The self-test, run without a network and with no more rights than the worker grants."""
    arguments = ["run", "--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
    arguments += ["--gpus=all"] if gpu else []
    arguments += [tag, "scoring-selftest", "--json", *(["--gpu"] if gpu else [])]
    done = subprocess.run([docker_command(), *arguments], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or ["no output"]
        return Observation("self-test", True, f"does not run: {lines[-1]}")
    failed = [f"{check['name']}: {check['detail']}" for check in report["checks"] if not check["ok"]]
    return Observation("self-test", bool(failed), "; ".join(failed) or "runs offline, all checks passed")
