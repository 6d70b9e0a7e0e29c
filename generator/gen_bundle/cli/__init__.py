"""The `gen-bundle` command: one module a verb, imported only when that verb is used."""

import atexit
import difflib
import errno
import gc
import importlib
import io
import keyword
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from gen_bundle.cli.messages import say, say_error
from gen_bundle.ground.errors import UserError, bug_report
from gen_bundle.ground.resources import competitions, known_competitions

STAGES = {
    "Before the competition": {
        "new": "Start a competition of your own, ready to build and dry-run.",
        "import": "Make a project of a bundle that somebody else wrote.",
        "list": "List the competitions that can be built.",
        "try": "Build, check, dry-run and preview in one command, after each change.",
        "build": "Build the bundle of a competition (what `gen-bundle NAME --out PATH` does).",
        "check": "Find what Codabench would refuse or ignore in a bundle, and gold that would leak.",
        "dry-run": "Run a bundle's scoring as the platform would, and show the board.",
        "preview": "Show a bundle as participants will meet it.",
        "power": "Foretell what a test set can tell apart, before anybody has submitted.",
        "image": "Lock, build, check and push the scoring image of a competition.",
    },
    "On the platform": {
        "login": "Log in to a Codabench site, for the verbs below.",
        "upload": "Make a competition of a bundle on a Codabench site.",
        "confirm": "Submit a bundle's own submissions to its live competition, and compare with the dry run.",
        "diff": "Compare two bundles: what changed, and what it takes on the platform.",
        "update": "Bring a live competition to what a bundle says.",
        "status": "Show what happens in a live competition.",
    },
    "Afterwards": {
        "fetch": "Fetch all submissions, scores and logs of a live competition.",
        "rank": "Compute the final ranking over all participants.",
        "rescore": "Score all submissions again, here or on many machines: who changes, and by how much.",
        "verify": "Score a submission again, and compare with a published result.",
    },
}
"""The verbs in the order of a competition's life, under the headings of `--help`."""
VERBS = {verb: what for verbs in STAGES.values() for verb, what in verbs.items()}

GARBAGE = 1_000_000
"""After so many new objects Python looks for cycles: more often takes a tenth of a start, and a fifth of large data."""
AGAIN, ANEW = "Run the same command again to go on.", "The same command starts again."
INTERRUPTED = {
    "dry-run": f"--out holds the runs that ended; dry-run.json says that others are missing. {ANEW}",
    "rescore": f"What was scored is kept. {AGAIN}",
    "fetch": f"What was fetched is kept. {AGAIN}",
    "image": f"Layers that were made or pushed are kept. {AGAIN}",
    "update": f"Reruns that were started go on. {AGAIN}",
    "confirm": f"What could not be removed from the site is named above. {ANEW}",
    "upload": "The site may have made the competition: look at its list before you run the same command again.",
}
"""Verb → what it leaves when it is interrupted, and what the same command does then; any other leaves nothing."""


class VerbGroup(click.Group):
    """A group that imports a verb's module when it is called, and takes anything else for a competition to build."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS]  # `list` is this package's module of that verb, once it was used

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        name = cmd_name.replace("-", "_") + "_" * keyword.iskeyword(cmd_name)
        module = importlib.import_module(f"gen_bundle.cli.{name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word in VERBS:
            return super().resolve_command(ctx, args)
        is_a_path = os.path.basename(word) != word or os.path.exists(os.path.expanduser(word))  # noqa: PTH110,PTH111,PTH119
        # What is installed is not looked up for a competition of ours: the build does so, too.
        may_be_built = is_a_path or word.startswith("-") or word in competitions() or word in known_competitions()
        if not (may_be_built or ctx.resilient_parsing or {"-h", "--help"} & {*args}):
            ctx.fail(_unknown_word(word))
        return super().resolve_command(ctx, ["build", *args])  # which reports what is wrong with it

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb: a UserError ends it with its messages, and Ctrl-C, also at a question, with 130."""
        try:
            return super().invoke(ctx)
        except UserError as error:
            say_error(error)
            sys.exit(error.status)
        except (KeyboardInterrupt, click.Abort):
            left = INTERRUPTED.get(ctx.invoked_subcommand or "", f"Nothing was written. {ANEW}")
            say(f"Interrupted. {left}", "yellow")
            sys.exit(128 + signal.SIGINT)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return verbs, and the names of the competitions that are installed."""
        items = [CompletionItem(name) for name in known_competitions() if name.startswith(incomplete)]
        return items + super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = len(max(VERBS, key=len))
        for stage, verbs in STAGES.items():
            with formatter.section(stage):
                formatter.write_dl([(verb.ljust(width), what) for verb, what in verbs.items()])


def _unknown_word(word: str) -> str:
    wrong = f"{word!r} is neither a verb nor a competition."
    if near := difflib.get_close_matches(word.lower(), [*VERBS, *known_competitions()], n=1):
        return f"{wrong} Did you mean {near[0]!r}?"
    names = ", ".join(known_competitions())
    return f"{wrong} Verbs: {', '.join(VERBS)}. Competitions: {names}, or a folder that holds bundle.yaml."


EPILOG = """\b
Examples:
  gen-bundle try ./my-task --open
  gen-bundle clpsych2025 --out bundle.zip
  gen-bundle clpsych2025 --out bundle.zip --data ~/gold --set phases.test.end="2025-03-11 AoE"
  gen-bundle dry-run bundle.zip --out dry-run
  gen-bundle check bundle.zip

\b
`gen-bundle NAME --help` shows the options of a build, `gen-bundle VERB --help` those of a verb.
Shell completion: eval "$(_GEN_BUNDLE_COMPLETE=bash_source gen-bundle)"   (or zsh_source, fish_source)
Exit status: 0 fine, 1 findings or a failed run, 2 wrong use or unreadable input, 3 a bug in gen-bundle,
130 interrupted.
"""


@click.group(
    cls=VerbGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120, "show_default": True},
    subcommand_metavar="NAME_OR_DIR [OPTIONS] | VERB [ARGS]",
)
@click.version_option(package_name="gen-bundle")
def root() -> None:
    """Build, check and dry-run competition bundles for Codabench and CodaLab."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; exits with 0, 1, 2, 3 or 130 (see `--help`)."""
    gc.set_threshold(GARBAGE)
    atexit.register(gc.freeze)  # else Python looks for cycles once more as it ends: an eighth of a build
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for some reads each package's metadata
    _end_on_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it cannot hold is escaped; UTF-8 for files and pipes of Windows
            encoding = "utf-8" if sys.platform == "win32" and not stream.isatty() else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        root.main(args=arguments, prog_name="gen-bundle")
    except Exception as error:
        if isinstance(error, OSError) and error.errno in MACHINE_LIMITS:
            place = f"{error.filename}: " if error.filename else ""
            say(f"error: {place}{error.strerror}.", "red")
            sys.exit(2)
        say(bug_report(error), "red")
        sys.exit(3)
    sys.exit(0)


# Limits of this machine: free space, permissions, open files.
MACHINE_LIMITS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOMEM),
    *(errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.EFBIG),
}


def _end_on_signals() -> None:
    """Let a kill, or a terminal that closes, end a verb as Ctrl-C does: temporary folders, which hold gold, go."""

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows knows no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # `nohup` has asked for something else
            signal.signal(number, end)
