"""A local cache of the Hugging Face hub that holds one model, laid out as the hub's own client does."""

import shutil
from pathlib import Path

import pytest


def put_in_hub_cache(monkeypatch: pytest.MonkeyPatch, cache: Path, name: str, commit: str, source: str) -> None:
    """Put a copy of the model folder `source` into an otherwise empty `cache`, as branch main at `commit`."""
    import huggingface_hub.constants

    repository = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(source, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit, encoding="ascii")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(cache))
