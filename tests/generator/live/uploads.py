"""Sites with a competition that was made of a bundle, which is uploaded once for all tests."""

import copy
import functools
import itertools
import tempfile
from pathlib import Path

from gen_bundle.live.connection import Connection
from gen_bundle.live.credentials import Token
from gen_bundle.live.upload import upload
from tests.live_ports import site_here
from tests.live_server import TOKEN, Site

CONTENT = ("datasets", "files", "statuses", "competitions", "tasks", "edits")
FREE_NUMBERS = 1000  # far above those of an upload


def uploaded(site: Site, bundle: Path, *, force: bool = False) -> int:
    """Let an empty site be as after the upload of a bundle; the competition's id."""
    number, kept = _uploaded(bundle.read_bytes(), force)
    for name in CONTENT:
        setattr(site, name, copy.deepcopy(getattr(kept, name)))
    site.numbers = itertools.count(FREE_NUMBERS)
    return number


@functools.cache
def _uploaded(bundle: bytes, force: bool) -> tuple[int, Site]:
    with site_here(Site()) as site, tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder) / "bundle.zip", Path(folder) / "changes.log"
        file.write_bytes(bundle)
        with Connection(site.address, Token("a test", TOKEN), log, lambda _: None) as connection:
            return upload(connection, file, force=force).id, site
