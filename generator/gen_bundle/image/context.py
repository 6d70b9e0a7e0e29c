"""Gathers the build context: the few files that the Dockerfile copies, and the folders that weights come from."""

import json
import shutil
from pathlib import Path

from gen_bundle.image.request import ImageRequest
from gen_bundle.image.weights import Weights
from gen_bundle.resources import resource

PACKAGES = "packages.txt"


def gather_context(folder: Path, request: ImageRequest, weights: Weights) -> None:
    """Fill an empty folder. The image takes the files' modes from here, so they are set whatever the umask."""
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
