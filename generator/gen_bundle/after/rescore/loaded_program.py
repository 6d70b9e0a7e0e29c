"""The engine of our own programs, which stay loaded from one submission to the next (`score_in_turn.py` beside it)."""

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gen_bundle.after.rescore.scoring_job import Scorer
from gen_bundle.codabench.worker import read_metadata
from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.dry_run.engines.choose import is_ours
from gen_bundle.dry_run.engines.process import ProcessEngine, program_environment
from gen_bundle.dry_run.layout import copy_tree, lay_out
from gen_bundle.ground.starting import python

SCORE_IN_TURN = Path(__file__).with_name("score_in_turn.py")


class LoadedProgram(ProcessEngine):
    """See `Engine`: a process that has loaded the program scores one submission after the other.

    What it does not score, since it is refused, takes too long or ends the process, gets a run of its own, so that
    every failure is told by such a run. An ingestion program is always run by itself.

    Args:
        scorer: the scorer; the attribute is without the files that the process has already.
        work: where its program and gold lie, unpacked.
    """

    def __init__(self, scorer: Scorer, work: Path) -> None:
        super().__init__(gpu=scorer.gpu)
        task = scorer.task.with_file("scoring_program", work / "stub").with_file("reference_data", None)
        # Our programs read the submission where the platform mounts it, when there are no predictions.
        self.scorer = replace(scorer, task=task, lays_over=bool(task.file("ingestion_program")))
        self._work = work
        self._process: subprocess.Popen[str] | None = None
        self._useless = False

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        """See `Engine.run`."""
        if container.kind != "ingestion":
            folders = {mount.target: mount.source for mount in container.mounts}
            given, output = folders["/app/input"], folders["/app/output"]
            if self._process is None and not self._useless:
                self._load()
            answer = self._answer(f"{json.dumps([str(given), str(output), seconds])}\n")
            if answer == f"{output}\n":
                stdout.touch()
                stderr.touch()
                return Ended(0, 0.0)
            if answer != "\n":  # it says what it should not, and may still be writing there
                self._end()
            shutil.rmtree(output)
            output.mkdir()
            copy_tree(self._work / "program", folders["/app/program"])
            copy_tree(self._work / "reference", given / "ref")
        return super().run(container, seconds=seconds, stdout=stdout, stderr=stderr, on_line=on_line)

    def close(self) -> None:
        """End the process and whatever it is at; from then on it scores nothing."""
        self._useless = True
        super().close()
        self._end()

    def _load(self) -> None:
        program, reference = self._work / "program", self._work / "reference"
        self._process = subprocess.Popen(
            python(SCORE_IN_TURN, program, reference, str(self.scorer.seconds)),
            cwd=program,
            env=program_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C reaches all processes of a terminal; we end it
        )
        # Where loading ends the process, it does so every time.
        self._useless = self._answer("") != "loaded\n"

    def _answer(self, request: str) -> str:
        """The line that answers a request; empty where the process has ended or ends instead."""
        process, answer = self._process, ""
        if process is not None and process.stdin is not None and process.stdout is not None:
            with suppress(OSError, ValueError):  # it has ended, or another thread has closed it
                process.stdin.write(request)
                process.stdin.flush()
                answer = process.stdout.readline()
        if not answer:
            self._end()
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError, ValueError):  # what it has not read, or what another thread has closed
                process.communicate()


def loaded_program(scorer: Scorer, work: Path) -> LoadedProgram | None:
    """Return the engine of a scorer whose program stays loaded; None of one that is started for every submission.

    Only the tool's own code, byte for byte, scores several submissions in one process: that its results do not depend
    on what was scored before is tested. Of an organiser's code nobody knows. Its program and gold stay in `work`.

    Raises:
        ArchiveError, OSError: these cannot be unpacked.
    """
    from gen_bundle.build.package.programs import COMMAND

    if scorer.engine != "process" or scorer.python or scorer.task.ingestion_only_during_scoring:
        return None
    if sys.platform == "win32":  # which has no alarms
        return None
    lay_out(scorer.task.file("scoring_program"), work / "program")
    if read_metadata(work / "program").command != COMMAND or not is_ours(work / "program"):
        return None
    (work / "reference").mkdir()
    if data := scorer.task.file("reference_data"):
        lay_out(data, work / "reference")
    (work / "stub").mkdir()
    (work / "stub" / "metadata.yaml").write_text(f"command: {COMMAND}\n", encoding="utf-8")
    return LoadedProgram(scorer, work)
