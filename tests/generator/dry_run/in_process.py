"""An engine that runs our own programs inside the test's process, where the libraries are imported already.

For tests of what a bundle scores. That packed programs run by themselves is shown with `ProcessEngine`.
"""

import time
from pathlib import Path

from gen_bundle.dry_run.engines import Container, Ended, LineListener
from ingestion_kit import ingestion
from scoring_kit import frame
from tests.forks import called, forked


class InProcessEngine:
    """Calls what `score.py` and `ingest.py` call, with the folders of the job."""

    name = "process"
    together = "it runs in the test's own process"

    def __init__(self, **_: object) -> None:
        """Take what `ProcessEngine` does, whose place it may have."""

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        here = {mount.target: str(mount.source) for mount in container.mounts}
        program, arguments = Path(here["/app/program"]), [here.get(part, part) for part in container.argv[2:]]
        began = time.monotonic()
        if container.kind == "ingestion":
            # It becomes the parent of what the code leaves running, and ends all its children.
            exit_code = forked(lambda: ingestion.main(program, arguments), stdout, stderr)
        else:
            exit_code = called(lambda: frame.main(program, arguments), stdout, stderr)
        return Ended(exit_code, time.monotonic() - began)

    def close(self) -> None:
        pass
