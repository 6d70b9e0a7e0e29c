"""Checking a bundle from the file to the report, in the order in which the platform reads it."""

import importlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.check.bundle import Bundle, DryRun, Elsewhere, open_bundle
from gen_bundle.check.registry import REGISTRY, Problem, Reads, Rule, RuleEffect
from gen_bundle.check.report import Finding, Report
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.codabench.settings import Stage, huge_keys
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.plain_text import one_line

# The modules of the rules, in the order of the documentation; importing one registers its rules.
MODULES = (
    *("envelope", "values", "pages_and_logo", "tasks", "programs", "phases"),
    *("leaderboard", "scores", "fact_sheet", "unfinished", "legacy", "leaks"),
)


def load_rules() -> None:
    """Import every module of rules, so that they are registered."""
    for module in MODULES:
        importlib.import_module(f"gen_bundle.check.rules.{module}")


def check_path(
    path: Path,
    *,
    now: datetime | None = None,
    version: PlatformVersion = NEWEST,
    elsewhere: Iterable[Elsewhere] = (),
    dry_run: DryRun | None = None,
    known_keys: Iterable[str] = (),
) -> Report:
    """Report what Codabench would do with a bundle, and what would happen afterwards.

    Args:
        path: a zip, or the folder of an unpacked bundle.
        now: the moment against which dates are judged; a date without zone is taken as UTC.
        version: the platform's, where its versions differ.
        elsewhere: gold that must not reach participants, beside that of the bundle itself.
        dry_run: what a dry run of the bundle shows of its scoring programs.
        known_keys: keys of datasets, tasks, solutions and queues that exist on the server.

    Raises:
        UserError: the path cannot be read.

    >>> report = check(bundle.path)
    """
    load_rules()
    moment = now or datetime.now(UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        with ExitStack() as held:
            bundle = open_bundle(path, moment, held, version)
            bundle.elsewhere = list(elsewhere)
            bundle.dry_run = dry_run or DryRun()
            bundle.known_keys = frozenset(known_keys)
            problems = list(_problems(bundle, REGISTRY.values()))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    return Report(str(path), _findings(bundle, problems), version.value)


def findings_of(bundle: Bundle, effect: RuleEffect | None, *rule_ids: str) -> list[Finding]:
    """Return what rules of one effect, and some others by their ids, find in an open bundle."""
    load_rules()
    rules = [rule for rule in REGISTRY.values() if rule.effect is effect or rule.id in rule_ids]
    return _findings(bundle, list(_problems(bundle, rules)))


def _problems(bundle: Bundle, rules: Iterable[Rule]) -> Iterator[tuple[Rule, Problem]]:
    kinds: list[Reads] = ["archive"]
    # a file that expands without end is not read any further
    if bundle.document is not None and bundle.yaml and not huge_keys(bundle):
        kinds += ["both", bundle.format]
    for rule in rules:
        for problem in rule.check(bundle) if rule.topic.reads in kinds else ():
            yield rule, problem


def _findings(bundle: Bundle, problems: list[tuple[Rule, Problem]]) -> list[Finding]:
    effects = list(RuleEffect)

    def in_order(found: tuple[Rule, Problem]) -> tuple[int, Stage, tuple[int, ...]]:
        rule, problem = found
        if rule.effect is not RuleEffect.REFUSED:
            return effects.index(rule.effect), Stage.LATER, ()
        return 0, rule.topic.stage if problem.stage is None else problem.stage, problem.order

    findings: list[Finding] = []
    for number, (rule, problem) in enumerate(sorted(problems, key=in_order)):
        file, line, column = one_line(problem.file or YAML_NAME), problem.line, problem.column
        if problem.file is None and bundle.document is not None:
            line, column = bundle.document.position(problem.at)
        findings.append(
            Finding(
                rule.id,
                rule.effect.severity,
                file,
                line,
                column,
                one_line(problem.what),
                rule.consequence,
                rule.repair,
                rule.topic.source,
                number == 0 and rule.effect is RuleEffect.REFUSED,
                rule.effect,
            )
        )
    return findings
