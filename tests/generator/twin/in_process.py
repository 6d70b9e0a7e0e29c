"""An engine that runs our own scoring programs inside the test's process, where the libraries are imported already.

For tests of what a bundle scores. That a packed program runs by itself is shown with `ProcessEngine`.
"""

from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from gen_bundle.twin.engines import Container, Ended, LineListener
from scoring_kit import frame


class InProcessEngine:
    """Calls the frame with the folders of the job, as `score.py` does."""

    name = "process"

    def prepare(self, image: str) -> list[str]:
        return []

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        here = {mount.target: str(mount.source) for mount in container.mounts}
        given = [part.replace("/app/input", here["/app/input"]) for part in container.argv[2:]]
        arguments = [part.replace("/app/output", here["/app/output"]) for part in given]
        with (
            stdout.open("w", encoding="utf-8") as out,
            stderr.open("w", encoding="utf-8") as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            exit_code = frame.main(Path(here["/app/program"]), arguments)
        return Ended(exit_code, seconds=0.0)

    def close(self) -> None:
        pass
