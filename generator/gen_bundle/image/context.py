"""Gathers the build context: the few files that the Dockerfile copies, and the folders that weights come from."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from gen_bundle.image.request import ImageRequest
from gen_bundle.image.weights import Weights
from gen_bundle.resources import resource

PACKAGES = "packages.txt"
REQUIREMENT = re.compile(r"^(?=[A-Za-z0-9])", re.MULTILINE)


def merged_locks(locks: Sequence[str]) -> str:
    """Several hashed locks as one: each package once, as the first of them that has it says."""
    packages: dict[str, str] = {}
    for text in locks:
        for entry in REQUIREMENT.split(text)[1:]:
            packages.setdefault(entry.split("=", 1)[0], entry)
    return "".join(packages.values())


def gather_context(folder: Path, request: ImageRequest, weights: Weights) -> None:
    """Fill an empty folder. The image takes the files' modes from here, so they are set whatever the umask."""
    docker = resource("docker")
    for name in ("Dockerfile", "bake.py", "scoring_selftest.py", "requirements.cpu.txt", "requirements.cuda.txt"):
        shutil.copyfile(docker / name, folder / name)
    texts = [(resource("requirements") / lock).read_text(encoding="utf-8") for lock in request.locks]
    (folder / PACKAGES).write_text(merged_locks(texts), encoding="utf-8")
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
