"""Divides gold between the phases: whole keys or clusters, evenly over the labels."""

import hashlib
import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from gen_bundle.author.new.columns import GoldColumn
from gen_bundle.author.new.key_and_answers import Key, of_types
from gen_bundle.author.new.propose import Proposal
from gen_bundle.check.leaks.search import said_by_ids
from gen_bundle.check.leaks.secrets import SecretGold, secret_tables
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.tables.table import FileTable

RATIO = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
SEED = 0
"""The same gold is always divided in the same way."""


def shares(split: str) -> float | None:
    """The share of the development phase that `--split DEV:TEST` gives; None for `none`.

    Raises:
        UserError: it is neither.
    """
    if split == "none":
        return None
    found = RATIO.fullmatch(split)
    if found is None or not int(found[1]) or not int(found[2]):
        raise UserError(f"--split {split}: expected a ratio such as 20:80 (development to test), or none.")
    return int(found[1]) / (int(found[1]) + int(found[2]))


def divide(proposal: Proposal, split: str | None) -> dict[str, list[int]]:
    """The rows of each phase by its id: `dev` and `test`, or `test` alone without a split.

    Rows of a key or cluster stay together, and each label of the first answer that is one is divided like the whole.
    Where every phase has a file of its own, there is nothing to divide.

    Raises:
        UserError: not a ratio, or too few keys for it.
    """
    gold = proposal.gold
    everything = _in_safe_order(proposal)
    if gold.phases:
        if split is not None:
            raise UserError(f"--split {split}: not where --gold names the phases. Expected one of them.")
        phases = _rows_of_phases(gold, everything)
        raise_all(_constant_phases(proposal, phases, "rows that differ"))
        return phases
    share = shares(split or "none")
    if share is None:
        return {"test": everything}
    unit = (proposal.cluster,) if proposal.cluster else proposal.key
    units = gold.keys(unit)
    dev = _chosen(units, _strata(proposal), share)
    if len(dev) in (0, len(set(units))):
        what = f"values of {proposal.cluster}" if proposal.cluster else "keys"
        raise UserError(
            f"--split {split}: leaves a phase without data, since there are {len(set(units))} {what}. "
            "Expected another ratio, or none."
        )
    phases = {"dev": [], "test": []}
    for at in everything:
        phases["dev" if units[at] in dev else "test"].append(at)
    faults = _constant_phases(proposal, phases, "another ratio, or none")
    raise_all(f"--split {split}: {fault}" for fault in faults)
    return phases


def _rows_of_phases(gold: FileTable, rows: Sequence[int]) -> dict[str, list[int]]:
    """The rows of the phases that have files of their own."""
    phases: dict[str, list[int]] = {phase: [] for phase in gold.files}
    for at in rows:
        phases[gold.phases[at]].append(at)
    return phases


def _chosen(units: Sequence[Key], strata: Sequence[str], share: float) -> set[Key]:
    """The units that go to the development phase: of each stratum the same share; a unit's first row gives its own."""
    of_stratum: dict[str, list[Key]] = defaultdict(list)
    seen: set[Key] = set()
    for unit, stratum in zip(units, strata, strict=True):
        if unit not in seen:
            seen.add(unit)
            of_stratum[stratum].append(unit)
    chance = random.Random(SEED)  # noqa: S311 - divides data, guards nothing
    ordered: list[Key] = []
    for stratum in sorted(of_stratum):
        ordered += chance.sample(of_stratum[stratum], len(of_stratum[stratum]))
    return {unit for at, unit in enumerate(ordered) if int((at + 1) * share) > int(at * share)}


def _constant_phases(proposal: Proposal, phases: dict[str, list[int]], expected: str) -> Iterator[str]:
    """Phases in which all labels or numbers are the same: no correlation is defined, and a constant is the gold."""
    for column in _ordered_answers(proposal):
        shown = proposal.gold.shown(column.name)
        for phase, rows in phases.items():
            if len({shown[one] for one in rows}) == 1:
                yield f"{column.name} has one value in all rows of {phase}. Expected {expected}."


def _strata(proposal: Proposal) -> list[str]:
    """Return what each row is divided by: its label, where there is one for each key."""
    for column in _ordered_answers(proposal):
        if column.type != "number":
            return proposal.gold.labels(column.name)
    return [""] * len(proposal.gold)


def _ordered_answers(proposal: Proposal) -> list[GoldColumn]:
    """The answers that are a label or a number for each key."""
    if proposal.many:
        return []
    ordered = of_types(proposal.answers, "label", "ordinal", "number", "probability")
    return [column for column in ordered if not column.annotators]


def is_sorted_by_answer(proposal: Proposal) -> bool:
    """Return whether rows come in blocks of a label, or numbers by size: their order alone would give answers away."""
    for column in _ordered_answers(proposal):
        texts = proposal.gold.shown(column.name)
        different = len(set(texts))
        if column.type == "number":
            numbers = [float(one) for one in texts]
            rising = sorted(numbers)
            if numbers in (rising, rising[::-1]) and len(set(numbers)) > 2:
                return True
        elif different > 1 and len(texts) > 4 * different:
            blocks = 1 + sum(text != following for text, following in itertools.pairwise(texts))
            if blocks < 2 * different:
                return True
    return False


def ids_that_say_answers(proposal: Proposal) -> Iterator[str]:
    """A line for gold whose ids give answers away by a part of them or by their order, as a build finds it."""
    gold = proposal.gold
    answers: list[str] = []
    for column in proposal.answers:
        answers += [name for name in column.in_gold if name in gold.names]  # the score of a ranking is in none
    secret = {"key": proposal.key, "columns": answers, "texts": []}
    for phase, file in (gold.files or {"": gold.file}).items():
        of_phase = gold
        if phase:
            of_phase = gold.picked(_rows_of_phases(gold, range(len(gold)))[phase])
        columns = {name: of_phase.shown(name) for name in dict.fromkeys([*proposal.key, *answers])}
        tables = secret_tables(file, columns, secret)
        for leak in said_by_ids(SecretGold(tables=list(tables))):
            yield f"the ids may give answers away: {leak.what}. Number the items anew, in an order of chance"


def _in_safe_order(proposal: Proposal) -> list[int]:
    """The rows as they came, or, where that would give the answers away, in an order that their keys decide."""
    rows = list(range(len(proposal.gold)))
    if proposal.of_lines or not is_sorted_by_answer(proposal):
        return rows
    keys = proposal.gold.keys(proposal.key)
    return sorted(rows, key=lambda at: hashlib.sha256("\0".join(keys[at]).encode()).hexdigest())
