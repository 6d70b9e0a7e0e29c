"""The example of a competition that takes code and has no baseline: code that writes the empty template."""

from collections.abc import Mapping
from pathlib import Path

from gen_bundle.declaration.model import Submission

FUNCTION = '''"""Writes the empty template: put your model in its place."""

import shutil
from pathlib import Path


def predict(input_folder, output_folder):
    """Write the predictions for what is in `input_folder` to `output_folder`."""
    shutil.copytree(Path(__file__).resolve().parent / "template", output_folder, dirs_exist_ok=True)
'''
COMMAND = (
    FUNCTION.replace("import shutil\n", "import shutil\nimport sys\n")
    + """

predict(Path(sys.argv[1]), Path(sys.argv[2]))
"""
)
SHELL = """# Writes the empty template: put your model in its place.
set -e
cp -R template/. "$2"
"""


def code_template(submission: Submission, template: Mapping[str, Path | bytes]) -> dict[str, Path | bytes]:
    """The files of a submission whose entry copies `template` to the output folder."""
    entry = str(submission.entry)
    text = SHELL if entry.endswith(".sh") else COMMAND if submission.interface == "command" else FUNCTION
    return {entry: text.encode(), **{f"template/{name}": content for name, content in template.items()}}
