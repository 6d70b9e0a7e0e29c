"""Puts model weights and sentence-splitter data into the image: bake.py MANIFEST TARGET (standard library alone).

The manifest is JSON, made by `gen-bundle image build` from `docker/models.yaml`. Each file is copied from the build
context or downloaded, and refused unless its sha256 is the one in the manifest. Models are laid out as the cache of
huggingface_hub, so that programs load them by name without a network:
TARGET/hf/hub/models--ORG--NAME/snapshots/REVISION/FILE, with the revision noted under refs/main, because a load that
asks for no revision asks for `main`. Sentence-splitter data lie as nltk looks for them, under TARGET/nltk_data.
"""

import hashlib
import http.client
import io
import json
import shutil
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

TOKEN = Path("/run/secrets/hf_token")
TRIES = 5


def download(url: str, target: Path, token: str | None = None) -> None:
    """Fetch `url` into `target`, going on where a broken connection stopped."""
    for attempt in range(1, TRIES + 1):
        request = urllib.request.Request(url)  # noqa: S310
        if token:
            request.add_unredirected_header("Authorization", f"Bearer {token}")  # not for the store it redirects to
        try:
            with target.open("ab") as out:
                if have := out.tell():
                    request.add_header("Range", f"bytes={have}-")
                with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
                    if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                        have = out.truncate(0)
                    total = have + int(response.headers["Content-Length"] or 0)
                    shutil.copyfileobj(response, out, 1 << 20)
            if target.stat().st_size >= total:
                return
            reason = "the connection ended early"
        except urllib.error.HTTPError as error:
            sys.exit(f"{url}: {error.code} {error.reason} (a gated model needs a token: set HF_TOKEN)")
        except (OSError, http.client.HTTPException) as error:
            reason = str(error)
        print(f"{url}: {reason}; try {attempt} of {TRIES}", file=sys.stderr)
        time.sleep(attempt)
    sys.exit(f"{url} could not be downloaded")


def verify(path: Path, expected: str, what: str) -> None:
    """Stop the build where a file is not the one that was locked."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        sys.exit(f"{what}: sha256 is {found}, expected {expected}")


def bake_model(model: dict[str, Any], endpoint: str, context: Path, hub: Path) -> None:
    """Lay one model out as the hub's cache would; `endpoint` is the hub's address."""
    repository, revision = model["repository"], model["revision"]
    token = None
    if TOKEN.exists():
        token = TOKEN.read_text().strip()
    folder = hub / f"models--{repository.replace('/', '--')}"
    for name, digest in model["files"].items():
        target = folder / "snapshots" / revision / name
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"{repository} {name}", flush=True)
        if model["path"] is None:
            download(f"{endpoint}/{repository}/resolve/{revision}/{urllib.parse.quote(name)}", target, token)
        else:
            shutil.copyfile(context / model["path"] / name, target)
        verify(target, digest, f"{repository} {name}")
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(revision)


def bake_punkt(punkt: dict[str, Any], context: Path, nltk_data: Path) -> None:
    """Lay the sentence splitter's data (nltk's `punkt_tab`, English) out as nltk looks for them."""
    archive = None
    if punkt["path"] is None:
        downloaded = nltk_data / "punkt_tab.zip"
        nltk_data.mkdir(parents=True)
        download(punkt["url"], downloaded)
        archive = zipfile.ZipFile(io.BytesIO(downloaded.read_bytes()))
        downloaded.unlink()
    for name, digest in punkt["files"].items():
        target = nltk_data / "tokenizers" / "punkt_tab" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if archive is None:
            shutil.copyfile(context / punkt["path"] / name, target)
        else:
            target.write_bytes(archive.read(f"punkt_tab/{name}"))
        verify(target, digest, f"punkt_tab {name}")


def main(manifest_path: Path, target: Path) -> None:
    """Bake everything that the manifest names, and the manifest itself."""
    manifest = json.loads(manifest_path.read_text(encoding="utf-8"))
    (target / "scoring").mkdir(parents=True)
    for model in manifest["models"]:
        bake_model(model, manifest["hub"], manifest_path.parent, target / "hf" / "hub")
    if manifest["punkt"] is not None:
        bake_punkt(manifest["punkt"], manifest_path.parent, target / "nltk_data")
    shutil.copyfile(manifest_path, target / "scoring" / "manifest.json")
    for path in [target, *target.rglob("*")]:  # readable for whatever user an engine runs the program as
        mode = 0o755 if path.is_dir() else 0o644
        path.chmod(mode)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
