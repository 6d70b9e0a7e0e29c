import contextlib
from collections.abc import Iterator

import pytest
from docker.errors import ImageNotFound

import docker
from gen_bundle.ground.errors import UserError
from gen_bundle.image.verbs import push_image
from tests.registry import Registry, serve_registry

pytestmark = pytest.mark.docker


@pytest.fixture
def registry(engine: docker.DockerClient) -> Iterator[Registry]:
    with serve_registry() as registry:
        yield registry
        for image in engine.images.list():
            for name in [*image.tags, *image.attrs["RepoDigests"]]:
                if name.startswith(("127.0.0.1:", "registry.example/")):
                    with contextlib.suppress(ImageNotFound):  # a digest goes with its tag
                        engine.images.remove(name)


def test_the_pushed_image_is_named_by_its_digest_and_can_be_pulled_back(
    engine: docker.DockerClient, busybox: str, registry: Registry
) -> None:
    name = push_image(busybox, f"{registry.address}/me/task:1")
    digest = name.rpartition("@")[2]
    assert name == f"{registry.address}/me/task@{digest}"
    assert ("me/task", "1") in registry.manifests
    assert ("me/task", digest) in registry.manifests
    engine.images.remove(f"{registry.address}/me/task:1")
    assert engine.images.pull(name).id == engine.images.get(busybox).id


def test_a_name_too_long_with_its_digest_keeps_its_tag(busybox: str, registry: Registry) -> None:
    target = f"{registry.address}/{'task-' * 14}x:1"
    assert len(target) <= 128 < len(target) + 70
    assert push_image(busybox, target) == target


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("registry.example/me/task", "has no tag"),
        ("127.0.0.1:9/me/task", "has no tag"),
        ("registry.example/" + "x" * 120 + ":1", "is longer than the 128 characters"),
        ("127.0.0.1:9/me/task:1", "could not be pushed"),
    ],
)
@pytest.mark.usefixtures("registry")
def test_a_push_that_cannot_work_says_why(busybox: str, target: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        push_image(busybox, target)


def test_an_image_that_is_not_there_is_told(registry: Registry, engine: docker.DockerClient) -> None:
    assert engine.ping()
    with pytest.raises(UserError, match=r"docker tag .*[Nn]o such image"):
        push_image("local/absent:1", f"{registry.address}/me/task:1")
    assert registry.manifests == {}
