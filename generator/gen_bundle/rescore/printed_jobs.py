"""The jobs as plain commands, for whatever runs commands on many machines that share a disk."""

import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from gen_bundle.errors import UserError
from gen_bundle.rescore.opened_bundle import OpenedBundle
from gen_bundle.rescore.plan import RESULTS, Advance, Announce, RescoreRequest, planned
from gen_bundle.rescore.store import Store
from gen_bundle.whole_file import write_whole

REQUEST = "request.json"


def printed_jobs(request: RescoreRequest, announce: Announce, advance: Advance) -> Iterator[str]:
    """A command for each job that has no result yet; the bundles are kept below `out` for them, built and ready.

    Raises:
        UserError: something cannot be used or written.
    """
    with planned(request, announce, advance) as plan:
        store = Store(request.out / RESULTS)
        kept = replace(
            request,
            bundle=_kept(plan.new, request.out / "new.zip", request.bundle),
            against=_kept(plan.old, request.out / "old.zip", str(request.against)) if plan.old else None,
            engine=plan.new.scorers[0].engine,
            data=None,
            trust=True,  # who prints them has said so, or need not
            **{name: path.absolute() for name in ("submissions", "out", "scores") if (path := getattr(request, name))},
        )
        write_whole(request.out / REQUEST, TypeAdapter(RescoreRequest).dump_json(kept, indent=1))
        seen: set[str] = set()
        for name, (of_new, of_old) in plan.jobs.items():
            for bundle, jobs in ((kept.bundle, of_new), (kept.against, of_old)):
                digests = {job.digest for job in jobs}
                if bundle and digests - seen and any(store.result(digest) is None for digest in digests):
                    yield _command(kept, bundle, name)
                seen |= digests


def recorded_request(out: Path) -> RescoreRequest:
    """What `--print-jobs` was asked for.

    Raises:
        UserError: nothing was asked for there.
    """
    file = out / REQUEST
    if not file.is_file():
        raise UserError(
            f"--collect --out {out}: no jobs were printed for this folder. Pass what they were printed with."
        )
    try:
        return TypeAdapter(RescoreRequest).validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UserError(f"{file}: cannot be read. Run --print-jobs again.") from error


def _kept(bundle: OpenedBundle, place: Path, built_from: str) -> str:
    """The bundle where it is; one that was built for this, as a copy that stays."""
    if bundle.path == Path(built_from).expanduser():
        return str(bundle.path.absolute())
    shutil.copyfile(bundle.path, place)
    return str(place.absolute())


def _command(request: RescoreRequest, bundle: str, name: str) -> str:
    options = ["--submissions", request.submissions, "--phase", request.phase, "--out", request.out]
    more = ["--gpu"] if request.gpu else []
    more += ["--python", str(request.python.expanduser().absolute())] if request.python else []
    # whole, since the shell that runs it may not have this environment on its path
    parts = [
        sys.executable,
        "-P",
        "-m",
        "gen_bundle",
        "rescore",
        bundle,
        *options,
        "--engine",
        request.engine,
        "--trust",
        *more,
        "--job",
        name,
    ]
    return shlex.join(map(str, parts))
