"""How submitted code is run, as participants read it on the Submission page and in FORMAT.md."""

from collections.abc import Sequence

from gen_bundle.declaration.model import Phase
from gen_bundle.package.ingestion import entry_seconds
from gen_bundle.package.resolve import Resolved
from gen_bundle.render.tables import markdown_table

FUNCTION = """`{entry}` defines a function, which the platform calls once:

```python
from pathlib import Path


def predict(input_folder: Path, output_folder: Path) -> None:
    ...
```"""
COMMAND = """The platform runs `{entry}` once, with two folders as its arguments:

```
{interpreter} {entry} INPUT_FOLDER OUTPUT_FOLDER
```"""


def code_text(competition: Resolved, phases: Sequence[Phase]) -> str:
    """What the code must offer, where it runs and what it may use; Markdown without headings."""
    submission, image = competition.declaration.submission, competition.declaration.image
    entry = str(submission.entry)
    text = COMMAND if submission.interface == "command" else FUNCTION
    call = text.format(entry=entry, interpreter="bash" if entry.endswith(".sh") else "python3")
    memory = f"- Its processes may hold {submission.memory} MiB of memory together.\n" if submission.memory else ""
    seconds = markdown_table(
        ["Phase", "Time for the code"], [[one.name, f"{entry_seconds(competition, one)} s"] for one in phases]
    )
    return f"""Upload a zip with `{entry}` at its top; other files that it needs may lie beside it.

{call}

It reads the data in the input folder, and writes `{submission.file}` to the output folder. Only regular files in the
output folder count.

- It runs in the image `{image}`, in a process of its own. Its working folder is a copy of your zip's files, which it
  may write to; write temporary files to the folder that `TMPDIR` names. Nothing of this is kept.
- Install nothing and download nothing while it runs: whether the network can be reached depends on the machine.
- The beginning and the end of what it prints are in the log of the prediction step.
{memory}- It is stopped when its time is over, with everything that it started:

{seconds}

What it wrote is then checked as the validator checks it, and scored. If it fails, nothing is scored, and the results
page says why."""
