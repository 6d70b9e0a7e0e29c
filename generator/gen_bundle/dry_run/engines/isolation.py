"""This machine as a program sees it where the kernel lets it be kept apart: the system and its folders."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gen_bundle.ground.starting import environment

LAUNCHER = Path(__file__).with_name("launcher.py")
PROBE_SECONDS = 30
MOST_SHOWN = 300
SYSTEM = ("/usr", "/nix", "/gnu", "/sys", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# What programs and libraries read there. Not all of it: services keep their keys and passwords beside these.
SETTINGS = (
    *("alternatives", "ld.so.*", "passwd", "group", "nsswitch.conf", "hosts", "localtime", "timezone", "mime.types"),
    *("ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "ca-certificates*", "fonts", "magic"),
    *("services", "protocols", "R", "java*", "perl", "python3*", "OpenCL", "vulkan"),
)
FOLDERS = {
    *("HOME", "TMPDIR", "TEMP", "TMP", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE"),
    *("TRANSFORMERS_CACHE", "SENTENCE_TRANSFORMERS_HOME", "TORCH_HOME", "NLTK_DATA"),
}
"""Variables that name folders of this machine."""
NOBODY = 65534
"""Who root's programs are there: a user that owns nothing of this machine."""
HOME = "/root"
"""The home of programs there, as in a container."""


@dataclass(frozen=True)
class Bind:
    """A folder or file of this machine, under the name by which a program finds it."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Apart:
    """The world of a program that is kept apart.

    Attributes:
        binds: what it finds there beside the system and the interpreter.
        network: it sees this machine's network; else only its own.
    """

    binds: Sequence[Bind]
    network: bool = False


def launcher_command(report: int) -> list[str]:
    """Return the command of the launcher; the pipe `report` takes why the program could not begin."""
    return [sys.executable, "-I", "-S", str(LAUNCHER), str(report)]


def asked(argv: Sequence[str], folder: str, apart: Apart | None, python: str) -> bytes:
    """Return what the launcher reads: a program that is kept apart, or only ended with all that it starts.

    Args:
        argv: the program's own command.
        folder: where it is run, as it is called there.
        apart: its world; None: this machine.
        python: the interpreter that it may need.
    """
    request: dict[str, object] = {
        "argv": list(argv),
        "folder": folder,
        "parent": os.getpid(),
        "apart": apart is not None,
    }
    if apart is not None:
        binds, links = _system()
        binds = [*binds, *(Bind(place, str(place)) for place in _of_interpreter(python)), *apart.binds]
        resolver = Path("/etc/resolv.conf")
        if apart.network and resolver.exists():
            binds.append(Bind(resolver.resolve(), str(resolver)))
        shown = [(str(one.source), one.target, "rw" if one.writable else "ro") for one in _not_twice(binds)]
        request |= {"binds": shown, "links": links, "network": apart.network, "user": other_user()}
    return json.dumps(request).encode()


def other_user() -> int | None:
    """Who programs that are kept apart are for this machine; None: who runs this."""
    return NOBODY if os.geteuid() == 0 else None


@cache
def why_not(python: str = sys.executable) -> str:
    """Return why programs of this interpreter cannot be kept apart on this machine; empty where they can."""
    if sys.platform != "linux":
        return "only Linux keeps programs apart without containers"
    reading, report = os.pipe()
    try:
        ended = subprocess.run(
            launcher_command(report),
            input=asked([python, "-c", "pass"], "/", Apart(()), python),
            pass_fds=[report],
            env=environment(),
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        os.close(reading)
        return str(error)
    finally:
        os.close(report)
    with os.fdopen(reading, "rb") as reported:
        reason = reported.read().partition(b" ")[2] or ended.stderr[-MOST_SHOWN:]
    if ended.returncode == 0:
        return ""
    return f"this system refuses it: {reason.decode(errors='replace').strip()}"


def environment_apart() -> dict[str, str]:
    """Return what of our environment holds there as well; the folders that it names are the caches alone."""
    kept = {name: value for name, value in environment().items() if name not in FOLDERS}
    return {**kept, **_cache_variables(), "HOME": HOME}


def caches() -> list[Bind]:
    """Folders of downloaded models and data, which hold no token as the folders around them do."""
    return [Bind(Path(place), place) for place in _cache_variables().values()]


def _cache_variables() -> dict[str, str]:
    ours = environment()
    home = Path(ours.get("HOME", HOME))
    hub = Path(ours.get("HF_HOME", home / ".cache/huggingface")) / "hub"
    usual = {"HF_HUB_CACHE": hub, "TORCH_HOME": home / ".cache/torch", "NLTK_DATA": home / "nltk_data"}
    found = {}
    for name, usual_place in usual.items():
        place = Path(ours.get(name, usual_place))
        if place.is_absolute() and place.is_dir():
            found[name] = str(place)
    return found


@cache
def _system() -> tuple[list[Bind], list[list[str]]]:
    """The folders of the system, and the links at its top such as /bin."""
    binds, links = [], []
    for name in SYSTEM:
        place = Path(name)
        if place.is_symlink():
            links.append([str(place.readlink()), name])
        elif place.is_dir():
            binds.append(Bind(place, name))
    for pattern in SETTINGS:
        for path in sorted(Path("/etc").glob(pattern)):
            if path.is_symlink():
                links.append([os.path.realpath(path), str(path)])
            elif os.access(path, os.R_OK):
                binds.append(Bind(path, str(path)))
    return binds, links


@cache
def _of_interpreter(python: str) -> list[Path]:
    """The folders that an interpreter needs: where it is installed, its environment, and the packages that it finds."""
    asks = "import sys, json; print(json.dumps([[sys.prefix, sys.base_prefix, sys.exec_prefix], sys.path]))"
    answer = subprocess.run(
        [python, "-c", asks],
        cwd="/",
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=PROBE_SECONDS,
    )
    prefixes, on_path = json.loads(answer.stdout)
    packages = [place for place in on_path if Path(place).name in {"site-packages", "dist-packages"}]
    places = [Path(place) for place in (*prefixes, *packages) if place != "/" and Path(place).is_dir()]
    # Some installers link packages to where they keep one copy for all environments.
    linked: set[Path] = set()
    for package in packages:
        for entry in Path(package).glob("*"):
            if entry.is_symlink():
                linked.add(entry.resolve().parent)
    return [*places, *(place.resolve() for place in places), *sorted(linked)]


def _not_twice(binds: Sequence[Bind]) -> list[Bind]:
    """Without what is seen already, at the same place, within another folder; folders before what lies in them."""
    kept: list[Bind] = []
    seen: set[Path] = set()
    for bind in sorted(binds, key=lambda one: len(Path(one.target).parts)):
        place, is_same = Path(bind.target), str(bind.source) == bind.target
        if bind.writable or not is_same or seen.isdisjoint((place, *place.parents)):
            kept.append(bind)
            if is_same:
                seen.add(place)
    return kept
