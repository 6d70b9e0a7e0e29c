"""The name that a pushed image gets, as the `docker` command tells its digests."""

from typing import Any

import pytest

from gen_bundle.image import verbs as push

DIGEST = f"sha256:{'ab' * 32}"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("docker.io/me/task:1", "me/task"),  # Docker writes names of its own hub without the hub
        ("docker.io/library/task:1", "task"),
        ("docker.io/me/task:1", "docker.io/me/task"),  # Podman writes them out
        ("registry.example/me/task:1", "registry.example/me/task"),
    ],
)
def test_the_name_has_the_digest(monkeypatch: pytest.MonkeyPatch, target: str, told: str) -> None:
    def inspected(_: str) -> dict[str, Any]:
        return {"RepoDigests": [f"other/task@sha256:{'cd' * 32}", f"{told}@{DIGEST}"]}

    monkeypatch.setattr(push, "docker_output", lambda *_: "")
    monkeypatch.setattr(push, "docker_shown", lambda *_: 0)
    monkeypatch.setattr(push, "inspect_image", inspected)
    assert push.push_image("local/task", target) == f"{target.rpartition(':')[0]}@{DIGEST}"
