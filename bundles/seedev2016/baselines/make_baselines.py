"""Writes the baselines of SeeDev from what participants have: texts and entities in `data/public`, and the schema.

- `good`: a word such as "binds" triggers an event between the fitting entities next to it in the sentence; in the full
  task the other entities of the sentence fill optional roles, and "not" or "no" negates.
- `weak`: an event between any two neighbouring entities of a sentence, of the first type that allows them.

Run it from anywhere: `python make_baselines.py`.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
sys.path.insert(0, str(HERE.parents[2] / "scoring_programs"))

TRIGGERS = {
    "bind": ("Binds_To", "Binding"),
    "activate": ("Regulates_Expression", "Regulation_Of_Expression"),
    "repress": ("Regulates_Expression", "Regulation_Of_Expression"),
    "control": ("Regulates_Process", "Regulation_Of_Process"),
    "accumulate": ("Is_Localized_In", "Localization"),
    "found": ("Is_Localized_In", "Localization"),
    "takes place": ("Occurs_During", "Occurrence_During"),
    "encode": ("Transcribes_Or_Translates_To", "Transcription_Or_Translation"),
    "member": ("Is_Member_Of_Family", "Family_Membership"),
    "upstream": ("Composes_Primary_Structure", "Primary_Structure_Composition"),
    "interact": ("Interacts_With", "Interaction"),
    "identical": ("Has_Sequence_Identical_To", "Sequence_Identity"),
    "level": ("Regulates_Accumulation", "Regulation_Of_Accumulation"),
    "delay": ("Regulates_Development_Phase", "Regulation_Of_Development_Phase"),
    "takes part": ("Is_Involved_In_Process", "Involvement_In_Process"),
}


class Mention(NamedTuple):
    """An entity in the text."""

    id: str
    type: str
    start: int
    end: int


class Found(NamedTuple):
    """An event that a baseline predicts: its line without the id."""

    annotation: str
    negated: bool = False


Baseline = Callable[[str, str, Sequence[Mention]], Iterator[Found]]


def good(task: str, sentence: str, mentions: Sequence[Mention]) -> Iterator[Found]:
    """Events triggered by words; offsets of the mentions are those of the sentence."""
    from seedev2016.schema import EVENT_TYPES

    negated = task == "full" and bool(re.search(r"\bnot?\b", sentence))
    for word, (binary, full) in TRIGGERS.items():
        kind = EVENT_TYPES[task][binary if task == "binary" else full]
        for match in re.finditer(word, sentence):
            filled = _filled(kind.roles, mentions, match.start())
            if filled:
                arguments = " ".join(f"{name}:{mention.id}" for name, mention in filled)
                yield Found(f"{kind.name} {arguments}", negated)


def _filled(roles: Mapping[str, Any], mentions: Sequence[Mention], place: int) -> list[tuple[str, Mention]]:
    """The roles of an event that a word at `place` triggers, with their mentions; empty where one has none."""
    from seedev2016.schema import PREREQUISITE

    first = _nearest(roles, 0, mentions, place, on_the_left=True)
    if first is None:
        return []
    others = [mention for mention in mentions if mention.id != first[1].id]
    second = _nearest(roles, 1, others, place, on_the_left=False)
    if second is None:
        return []
    filled = [first, second]
    for name, role in roles.items():
        left = [mention for mention in others if mention.type in role.fillers and mention.id != second[1].id]
        if left and role.slot == name != PREREQUISITE:
            filled.append((name, left[0]))
    return filled


def _nearest(
    roles: Mapping[str, Any], argument: int, mentions: Sequence[Mention], place: int, *, on_the_left: bool
) -> tuple[str, Mention] | None:
    """The role and the fitting mention nearest to a place, on one side if there is any, else on the other."""
    fitting = [
        (name, mention)
        for name, role in roles.items()
        for mention in mentions
        if role.slot == argument and mention.type in role.fillers
    ]
    return min(
        fitting, key=lambda found: ((found[1].start < place) != on_the_left, abs(found[1].start - place)), default=None
    )


def weak(task: str, sentence: str, mentions: Sequence[Mention]) -> Iterator[Found]:
    """An event between each two neighbours that some type allows."""
    from itertools import pairwise

    from seedev2016.schema import EVENT_TYPES

    for one, other in pairwise(mentions):
        for kind in EVENT_TYPES[task].values():
            first = [name for name, role in kind.roles.items() if role.slot == 0 and one.type in role.fillers]
            second = [name for name, role in kind.roles.items() if role.slot == 1 and other.type in role.fillers]
            if first and second:
                yield Found(f"{kind.name} {first[0]}:{one.id} {second[0]}:{other.id}")
                break


def _annotated(task: str, text: str, mentions: Sequence[Mention], baseline: Baseline) -> str:
    """The `.a2` file of a document."""
    events: list[str] = []
    negations: list[str] = []
    start = 0
    for end in [match.end() for match in re.finditer(r"[.]\s", text)]:
        inside = [
            mention._replace(start=mention.start - start, end=mention.end - start)
            for mention in mentions
            if start <= mention.start < end
        ]
        for found in baseline(task, text[start:end], inside):
            events.append(f"E{len(events) + 1}\t{found.annotation}\n")
            if found.negated:
                negations.append(f"M{len(negations) + 1}\tNegation Annotation:E{len(events)}\n")
        start = end
    return "".join(events + negations)


def _mentions(a1: str) -> list[Mention]:
    lines = [line.split("\t")[:2] for line in a1.splitlines()]
    return [Mention(name, *_typed(annotation)) for name, annotation in lines]


def _typed(annotation: str) -> tuple[str, int, int]:
    kind, start, end = re.split("[ ;]", annotation)[:3]
    return kind, int(start), int(end)


def main() -> None:
    """Write both baselines for all phases and tasks."""
    for path in sorted((DATA / "public").glob("*/*/*.a1")):
        phase, task = path.parts[-3:-1]
        text, mentions = (
            path.with_suffix(".txt").read_text(encoding="utf-8"),
            _mentions(path.read_text(encoding="utf-8")),
        )
        for name, baseline in (("good", good), ("weak", weak)):
            folder = DATA / "baselines" / phase / name / task
            folder.mkdir(parents=True, exist_ok=True)
            answer = _annotated(task, text, mentions, baseline)
            (folder / f"{path.stem}.a2").write_text(answer, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
