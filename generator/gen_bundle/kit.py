"""Lets pytest, mypy and editors import `scoring_kit` where gen-bundle is installed: `python -m gen_bundle.kit`.

The kit travels inside every scoring program and is no package of its own on an index, so that a competition is always
scored with the kit that its bundle was built with. A path file (.pth, see the documentation of Python's `site`) in the
environment's site-packages names the folder that it lies in.
"""

import sys
import sysconfig
from pathlib import Path

from gen_bundle.ground.resources import resource

PATH_FILE = "gen_bundle_scoring_kit.pth"


def link(site_packages: Path) -> Path:
    """Write the path file into `site_packages`; returns it."""
    target = site_packages / PATH_FILE
    target.write_text(f"{resource('scoring_programs')}\n", encoding="utf-8")
    return target


def main() -> int:
    """Link the kit into the running Python's environment."""
    site_packages = Path(sysconfig.get_path("purelib"))
    try:
        target = link(site_packages)
    except OSError as error:
        print(f"{site_packages}: {error.strerror}. Expected a virtual environment of your own.", file=sys.stderr)
        return 2
    print(f"{target}: scoring_kit can be imported from {resource('scoring_programs')}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
