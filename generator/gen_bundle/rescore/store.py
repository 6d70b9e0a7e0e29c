"""Results by their address: what was scored is not scored again, by whatever run, worker or machine it was."""

import json
from dataclasses import asdict
from pathlib import Path

from gen_bundle.rescore.scoring_job import JobResult
from gen_bundle.whole_file import write_whole


class Store:
    """A folder of results, each a file that is there as a whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def result(self, digest: str) -> JobResult | None:
        """The result of a job; None where there is none, or its file is damaged."""
        try:
            content = json.loads(self._file(digest).read_bytes())
            return JobResult(**content)
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, digest: str, result: JobResult) -> None:
        """Keep the result of a job.

        Raises:
            UserError: it cannot be written: no permission, or no space.
        """
        content = json.dumps(asdict(result), indent=1, ensure_ascii=False, allow_nan=False)
        write_whole(self._file(digest), f"{content}\n".encode(errors="backslashreplace"))

    def _file(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"
