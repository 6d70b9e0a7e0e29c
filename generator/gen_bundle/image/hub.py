"""Asks the Hugging Face hub which files a model has, with the standard library: two requests need no client."""

import hashlib
import http.client
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gen_bundle.errors import UserError


@dataclass(frozen=True)
class HubModel:
    """A model at one commit: the files that loading it needs, each with its sha256."""

    revision: str
    licence: str | None
    files: dict[str, str]


def endpoint() -> str:
    """The hub's address; HF_ENDPOINT names a mirror, as it does for huggingface_hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def describe(repository: str, revision: str | None = None) -> HubModel:
    """Look a model up at a revision, or at the head of its main branch.

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
    card: dict[str, Any] = answer.get("cardData") or {}
    licence = card.get("license")
    return HubModel(revision=commit, licence=licence if isinstance(licence, str) else None, files=files)


def needed_files(names: Iterable[str]) -> list[str]:
    """What loading a model needs: its weights once (safetensors where there are any), configuration, tokenizer."""
    top = [name for name in names if "/" not in name]
    weights = [name for name in top if name.endswith(".safetensors")]
    weights = weights or [name for name in top if re.fullmatch(r"pytorch_model.*\.bin", name)]
    return sorted(weights + [name for name in top if name.endswith((".json", ".txt", ".model"))])


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
