"""The example of a competition that takes code and has no baseline: code that writes the empty template."""

from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.resolve import Resolved
from gen_bundle.zips.writing import Members

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


def empty_submission(competition: Resolved, data: PhaseData) -> Members:
    """A phase's empty template; where participants hand in code, code that copies it to the output folder."""
    submission = competition.declaration.submission
    if not competition.takes_code:
        return data.template
    entry = str(submission.entry)
    text = SHELL if entry.endswith(".sh") else COMMAND if submission.interface == "command" else FUNCTION
    return {entry: text.encode(), **{f"template/{name}": content for name, content in data.template.items()}}
