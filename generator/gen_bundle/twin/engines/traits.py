"""Which engine answers, and what it silently does not do."""

from dataclasses import dataclass

from docker import DockerClient

# `info` keys of Docker's API, by what `--strict` bounds with them.
_BOUNDS = {"MemoryLimit": "memory", "CpuCfsQuota": "processors", "PidsLimit": "processes"}


@dataclass(frozen=True)
class Traits:
    """What a dry run must know about the engine.

    Attributes:
        is_podman: Podman, through its Docker socket.
        version: Name and version.
        measures: False where the figures of a container would be those of the whole machine.
        unbounded: What it takes a limit for and does not limit.
    """

    is_podman: bool
    version: str
    measures: bool
    unbounded: tuple[str, ...]


def traits(client: DockerClient) -> Traits:
    """Ask the engine."""
    version, info = client.version(), client.info()
    components = [str(component.get("Name", "")) for component in version.get("Components") or []]
    is_podman = any("podman" in name.lower() for name in components)
    # Docker lists it among the security options, Podman 4 under a key of its own.
    options = [str(option) for option in info.get("SecurityOptions") or []]
    is_rootless = bool(info.get("Rootless")) or any("rootless" in option for option in options)
    # Only root can make groups of processes by version 1; such an engine's containers are in none.
    no_groups = is_rootless and str(info.get("CgroupVersion")) == "1"
    return Traits(
        is_podman,
        f"{'Podman' if is_podman else 'Docker'} {version.get('Version', '')}",
        measures=not no_groups,
        unbounded=tuple(what for key, what in _BOUNDS.items() if no_groups or info.get(key) is False),
    )
