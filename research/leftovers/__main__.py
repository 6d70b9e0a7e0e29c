"""Tries to leave something behind: `python -m research.leftovers [TRIES]`.

Each try is a dry run of submitted code by the process engine, on a machine of one's own. The code starts a child, one
with a session of its own and an orphan, and then either waits (for Ctrl-C, a kill, or the time limit) or kills the
ingestion program. Afterwards no process and no temporary folder may be there. With namespaces and without.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.generator.dry_run.bundles import Bundle, write_zip, writes
from tests.generator.dry_run.leftovers import STAYS, running, wait_until_running

TRIES = 20
LIMIT = 4
ENDINGS = {
    "Ctrl-C": (signal.SIGINT, "time.sleep(300)"),
    "SIGTERM": (signal.SIGTERM, "time.sleep(300)"),
    "time limit": (None, "time.sleep(300)"),
    "killed ingestion": (None, "time.sleep(0.2)\nos.kill(os.getppid(), 9)\ntime.sleep(300)"),
}
INGEST = """\
import subprocess, sys, tempfile
folder = tempfile.mkdtemp(prefix="ingestion-")
code = "/app/ingested_program/model.py" if sys.argv[1].startswith("/app") else f"{sys.argv[1]}/model.py"
subprocess.run([sys.executable, code], start_new_session=True)
"""
PLAIN = "import gen_bundle.dry_run.engines.process as p; p.why_not = lambda _: 'not wanted'; "
COMMAND = "from gen_bundle.cli import main; main()"


def main() -> None:
    """Print how often something was left."""
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else TRIES
    for apart in (True, False):
        for name, (number, ending) in ENDINGS.items():
            left = [_try(number, ending, apart=apart) for _ in range(tries)]
            processes = sum(1 for found, _ in left if found)
            folders = sum(1 for _, found in left if found)
            how = "kept apart" if apart else "not kept apart"
            print(f"{name}, {how}: {tries} tries, {processes} left processes, {folders} left folders", flush=True)


def _try(number: signal.Signals | None, ending: str, *, apart: bool) -> tuple[list[int], list[str]]:
    word = secrets.token_hex(8)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        command = "command: python3 /app/program/ingest.py /app/ingested_program"
        folders = {"ingest": {"ingest.py": INGEST, "metadata.yaml": command}, "inputs": {"x": ""}}
        task = {"ingestion_program": "ingest", "input_data": "inputs"}
        limit = {"execution_time_limit": 300 if number else LIMIT}
        bundle = Bundle(writes('{"acc": 1}'), task=task, folders=folders, phase=limit).write(work / "bundle")
        code = write_zip(work / "team.zip", {"model.py": STAYS.replace("WORD", word) + ending})
        temporary = work / "temporary"
        temporary.mkdir()
        arguments = ["dry-run", bundle, "--submission", code, "--engine", "process", "--trust", "--out", work / "out"]
        run = subprocess.Popen(
            [sys.executable, "-c", COMMAND if apart else PLAIN + COMMAND, *map(str, arguments)],
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if number is not None:
            wait_until_running(word, 3)
            time.sleep(0.1)
            os.killpg(run.pid, number)
        run.wait(120)
        return running(word), [path.name for path in temporary.iterdir()]


if __name__ == "__main__":
    main()
