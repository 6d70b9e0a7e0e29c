"""Asking an engine for its GPUs."""

from collections.abc import Mapping
from typing import Any

from docker.errors import APIError
from docker.types import DeviceRequest

from docker import APIClient
from gen_bundle.twin.engines import EngineError
from gen_bundle.twin.engines.traits import Traits

_BY_CDI: dict[str, Any] = {"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}
_BY_RUNTIME: dict[str, Any] = {"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}
_NO_SUCH_GPU = "nvidia.com/gpu=gen-bundle-asks-for-no-such-gpu"


def gpu_requests(traits: Traits) -> tuple[dict[str, Any], ...]:
    """The requests to try in turn: the worker's own by CDI; engines without it know the older form.

    Podman takes the older form and gives nothing.
    """
    return (_BY_CDI,) if traits.is_podman else (_BY_CDI, _BY_RUNTIME)


def gpu_refused(traits: Traits, refusals: list[str]) -> EngineError:
    """The message when no request was served."""
    how = " by CDI" if traits.is_podman else ", neither by CDI nor by its NVIDIA runtime"
    return EngineError(
        f"the engine gives no GPU{how}; install the NVIDIA container toolkit, or leave out --gpu. It says: "
        f"{' / '.join(refusals)}"
    )


def require_honest_gpus(api: APIClient, traits: Traits, image: str, labels: Mapping[str, str]) -> None:
    """See that the engine looks at GPU requests at all: Podman 4 silently starts the container without a GPU.

    Raises:
        EngineError: It started a container that asked for a GPU that cannot exist.
    """
    if not traits.is_podman:
        return
    request = DeviceRequest(driver="cdi", device_ids=[_NO_SUCH_GPU])
    host_config = api.create_host_config(network_mode="none", device_requests=[request])
    created = api.create_container(image, command=["true"], host_config=host_config, labels=dict(labels))
    try:
        api.start(created)
    except APIError:  # it looked, and found none of that name
        return
    finally:
        api.remove_container(created, v=True, force=True)
    raise EngineError(
        f"{traits.version} ignores requests for GPUs through its Docker socket: use a newer Podman (5.4.2 does serve "
        "them) or Docker, or leave out --gpu"
    )
