"""A clone with an environment that holds what `make demo` installs and nothing else, made of links into this one.

The installation itself is not repeated: `make test` needed it to get here, and `.ci/run` runs `make demo` before all.
"""

import re
import subprocess
import sys
import sysconfig
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("base.txt", "score.txt")


def fresh_clone(folder: Path) -> Path:
    """Clone the repository into a folder, with `.venv` as `make .venv/demo` leaves it."""
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder)], check=True)
    environment = folder / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    packages = link_locked_packages(environment)
    _link("gen-bundle", packages)
    (packages / "gen_bundle.pth").write_text(f"{folder / 'generator'}\n", encoding="utf-8")
    command = environment / "bin" / "gen-bundle"
    command.write_text(
        f"#!{environment / 'bin' / 'python'}\nfrom gen_bundle.cli import main\nmain()\n", encoding="utf-8"
    )
    command.chmod(0o755)
    for stamp in ("pip", "demo"):
        (environment / stamp).touch()
    return folder


def link_locked_packages(environment: Path) -> Path:
    """Link what the demo's locks name into an empty environment; returns its folder of packages."""
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    locks = "".join((ROOT / "requirements" / lock).read_text(encoding="utf-8") for lock in LOCKS)
    for name in re.findall(r"^([\w.-]+)==", locks, re.MULTILINE):
        with suppress(PackageNotFoundError):  # what only builds the project; a command would miss anything else
            _link(name, packages)
    return packages


def _link(name: str, packages: Path) -> None:
    """Link a distribution's modules and metadata into a folder of packages."""
    found = distribution(name)
    for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        if not top.endswith(".pth") and not (packages / top).exists():
            (packages / top).symlink_to(Path(str(found.locate_file(top))))
