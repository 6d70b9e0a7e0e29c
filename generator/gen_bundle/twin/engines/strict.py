"""`--strict`: bounds that the platform does not set, for a scorer that should be a good neighbour."""

import os
from dataclasses import dataclass
from typing import Any

GIB = 1024**3


@dataclass(frozen=True)
class StrictLimits:
    """What a container may use.

    Attributes:
        memory_bytes: Memory, without swap.
        processors: Processor cores.
        processes: Processes and threads.
        output_bytes: All of `/app/output`, and any single file.
        scratch_bytes: `/tmp`; the rest of the container is read-only.
    """

    memory_bytes: int = 8 * GIB
    processors: float = 2.0
    processes: int = 512
    output_bytes: int = 2 * GIB
    scratch_bytes: int = GIB

    def host_config(self) -> dict[str, Any]:
        """The same for docker-py's `create_host_config`."""
        from docker.types import Ulimit

        return {
            "mem_limit": self.memory_bytes,
            "memswap_limit": self.memory_bytes,
            "nano_cpus": int(self.processors * 1e9),
            "pids_limit": self.processes,
            "read_only": True,
            "tmpfs": {"/tmp": f"size={self.scratch_bytes},mode=1777"},  # noqa: S108 - the container's own
            "ulimits": [Ulimit(name="fsize", soft=self.output_bytes, hard=self.output_bytes)],
        }

    def run_options(self) -> list[str]:
        """The same as options of `docker run`."""
        return [
            f"--memory={self.memory_bytes}",
            f"--memory-swap={self.memory_bytes}",
            f"--cpus={self.processors}",
            f"--pids-limit={self.processes}",
            "--read-only",
            f"--tmpfs=/tmp:size={self.scratch_bytes},mode=1777",
            f"--ulimit=fsize={self.output_bytes}",
        ]


def folder_bytes(folder: "os.PathLike[str]") -> int:
    """Bytes of the files below a folder, links not followed; what vanishes meanwhile counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - called ten times a second
            except OSError:
                continue
    return total
