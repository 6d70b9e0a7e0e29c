"""BioNLP-ST standoff annotation: entities of `.a1` files and events of `.a2` files.

Source: BioNLP-ST 2013 "File formats" (http://2013.bionlp-st.org/file-formats), as SeeDev uses it: events have no
trigger, negations are on `M` lines, `R` ids are read like `E` ids.
"""

import re
import sys
from typing import Any, Container, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from scoring_kit.errors import Fault
from seedev2016.schema import (
    COMMUTATIVE,
    ENTITY_TYPES,
    EVENT_TYPES,
    PREREQUISITE,
    PREREQUISITE_TYPES,
)

_ENTITY = re.compile(r"(T[0-9]+)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)(?:\t(.*))?")
_EVENT_ID = re.compile(r"[ER][0-9]+")
_NEGATION = re.compile(r"Negation +Annotation:(\S+)")
_MODIFICATION_ID = re.compile(r"M[0-9]+")


class Entity(NamedTuple):
    """An entity: its type, its offsets as in the file, and its text."""

    type: str
    offsets: str
    surface: str

    @property
    def fragments(self) -> List[Tuple[int, int]]:
        """(start, end) of each fragment in characters of the text, half open."""
        fragments = []
        for fragment in self.offsets.split(";"):
            start, end = fragment.split(" ")
            fragments.append((int(start), int(end)))
        return fragments


Arguments = FrozenSet[Tuple[object, Any]]


class Event(NamedTuple):
    """An event.

    Attributes:
        type: name of the event type.
        first: id of the entity that is the first mandatory argument. Where that may have one of two roles, the
            entity's type alone tells which, because no type fits both. `ROLE:ID` where it does not fit the role.
        second: id of the entity that is the second mandatory argument.
        optional: the optional arguments as (role, filler); the filler of a Prerequisite_Event is that event's key.
        negated: whether a Negation is attached to it.
    """

    type: str
    first: str
    second: str
    optional: Arguments
    negated: bool


Key = Tuple[str, str, str]
"""Type and mandatory arguments: equal for two events exactly when S_p of SeeDev-binary is 1."""
Blocks = Mapping[Key, Sequence[Event]]
"""A document's events by key: only those of one block can be paired."""


def by_key(events: Sequence[Event], known: Optional[Container[Key]] = None) -> Blocks:
    """Return a document's events in blocks: all of them, or those of `known` keys alone."""
    blocks: Dict[Key, List[Event]] = {}
    for event in events:
        kind, first, second = key = event[:3]
        if second < first and kind in COMMUTATIVE:
            key = kind, second, first
        if known is None or key in known:
            blocks.setdefault(key, []).append(event)
    return blocks


def read_entities(text: str, name: str, fault: Fault) -> Dict[str, Entity]:
    """Return the entities of an `.a1` file by id; every fault is recorded and its line left out."""
    entities: Dict[str, Entity] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        entity = _ENTITY.fullmatch(line.rstrip("\r"))
        where = f"{name}:{number}"
        if entity is None:
            fault(where, "not an entity", line, "a line T1<TAB>Type start end[;start end]<TAB>text")
            continue
        identifier, kind, offsets, surface = entity.groups("")
        if kind not in ENTITY_TYPES:
            fault(where, "unknown entity type", kind, f"one of {_listed(ENTITY_TYPES)}")
        elif identifier in entities:
            fault(where, "repeated entity id", identifier, "each id once")
        else:
            entities[sys.intern(identifier)] = Entity(sys.intern(kind), offsets, surface)
    return entities


def read_events(
    text: str, name: str, entities: Mapping[str, str], task: str, fault: Fault, misfit: Fault
) -> List[Event]:
    """Return the events of an `.a2` file in the order of the file; every fault is recorded, and its event left out.

    Args:
        text: the file's content.
        name: its name in messages.
        entities: id → type of the document's entities, which alone may be arguments.
        task: `binary` or `full`, which decides on the event types and on what is optional.
        fault: called with everything that cannot be read as an event of the schema.
        misfit: called with an argument whose filler has a type that its role does not take. The event stays, with an
            argument that equals none of the gold, whose arguments all fit.
    """
    return _EventReader(name, task, entities, fault, misfit).read(text)


class _EventReader:
    """Reads one `.a2` file: its lines first, then what they refer to, which may come later."""

    def __init__(self, name: str, task: str, entities: Mapping[str, str], fault: Fault, misfit: Fault) -> None:
        self.name = name
        self.task = task
        self.types = EVENT_TYPES[task]
        self.entities = entities
        self.record = fault
        self.record_misfit = misfit
        # None where the line has a fault: a reference to it is then not a second fault.
        self.events: Dict[str, Optional[Event]] = {}
        self.prerequisites: List[Tuple[int, str, str]] = []
        self.modifications: Dict[str, Tuple[int, str]] = {}

    def fault(self, number: int, rule: str, value: str, expected: str) -> None:
        self.record(f"{self.name}:{number}", rule, value, expected)

    def read(self, text: str) -> List[Event]:
        for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
            self._read_line(line, number)
        for number, identifier, prerequisite in self.prerequisites:
            self._resolve_prerequisite(number, identifier, prerequisite)
        for number, target in self.modifications.values():
            self._negate(number, target)
        return [event for event in self.events.values() if event is not None]

    def _read_line(self, line: str, number: int) -> None:
        identifier, tab, body = line.strip().partition("\t")
        if not tab or not _EVENT_ID.fullmatch(identifier):
            self._read_other_line(identifier, tab, body, number)
        elif identifier in self.events:
            self.fault(number, "repeated event id", identifier, "each id once")
        else:
            self.events[identifier] = self._event(identifier, body.split(), number)

    def _read_other_line(self, identifier: str, tab: str, body: str, number: int) -> None:
        if tab and self.task == "full" and _MODIFICATION_ID.fullmatch(identifier):
            self._read_modification(identifier, body, number)
        elif identifier:
            negation = " or M1<TAB>Negation Annotation:E1" if self.task == "full" else ""
            rule = "a line that is not an event, its id" if tab else "a line without a tab, its first word"
            self.fault(number, rule, identifier.split(None, 1)[0], f"a line E1<TAB>Type Role:T1 Role:T2{negation}")

    def _event(self, identifier: str, words: List[str], number: int) -> Optional[Event]:
        kind = self.types.get(words[0])
        if kind is None:
            self.fault(number, "unknown event type", words[0], f"one of {_listed(self.types)}")
            return None
        filled: Dict[object, str] = {}
        sound = True
        for word in words[1:]:
            name, _, filler = word.partition(":")
            role = kind.roles.get(name)
            if role is None:
                self.fault(number, "unknown role", name, f"one of the roles of {kind.name}: {', '.join(kind.roles)}")
                sound = False
                continue
            entity_type = self.entities.get(filler)
            if role.slot in filled:
                self.fault(number, "second filler of an argument", word, f"one {kind.names(role.slot)}")
                sound = False
            elif entity_type in role.fillers or name == PREREQUISITE:
                filled[role.slot] = filler
            elif entity_type is None:
                expected = "the id of an entity in the document's .a1 file"
                self.fault(number, "unknown entity", f"{name}:{filler}", expected)
                sound = False
            else:
                # An argument with two roles is compared without them (see `Event`): what does not fit its role must
                # not equal what fits the other one.
                filled[role.slot] = f"{name}:{filler}"
                value, expected = f"{name}:{filler} ({entity_type})", f"an entity of type {_listed(role.fillers)}"
                self.record_misfit(f"{self.name}:{number}", "entity of a wrong type", value, expected)
        if not sound:
            return None
        for argument in (0, 1):
            if argument not in filled:
                self.fault(number, "missing mandatory argument", kind.name, f"one {kind.names(argument)}")
                return None
        first, second = filled.pop(0), filled.pop(1)
        if PREREQUISITE in filled:
            self.prerequisites.append((number, identifier, filled.pop(PREREQUISITE)))
        return Event(kind.name, first, second, frozenset(filled.items()), False)

    def _read_modification(self, identifier: str, body: str, number: int) -> None:
        negation = _NEGATION.fullmatch(body)
        if identifier in self.modifications:
            self.fault(number, "repeated modification id", identifier, "each id once")
        elif negation is None:
            self.fault(number, "not a negation", body, "a line M1<TAB>Negation Annotation:E1")
        else:
            self.modifications[identifier] = (number, negation.group(1))

    def _resolve_prerequisite(self, number: int, identifier: str, prerequisite: str) -> None:
        """Put the event that a Prerequisite_Event names in the place of its id."""
        event, target = self.events[identifier], self.events.get(prerequisite)
        if prerequisite not in self.events:
            self.fault(number, "unknown event", f"{PREREQUISITE}:{prerequisite}", "the id of an event of this file")
        elif event is not None and target is not None:
            if target.type not in PREREQUISITE_TYPES:
                value = f"{PREREQUISITE}:{prerequisite} ({target.type})"
                expected = f"an event of type {_listed(PREREQUISITE_TYPES)}"
                self.record_misfit(f"{self.name}:{number}", "event of a wrong type", value, expected)
            (key,) = by_key([target])
            self.events[identifier] = event._replace(optional=event.optional | {(PREREQUISITE, key)})

    def _negate(self, number: int, target: str) -> None:
        event = self.events.get(target)
        if target not in self.events:
            self.fault(number, "negation of an unknown event", target, "the id of an event of this file")
        elif event is not None and event.negated:
            self.fault(number, "second negation of one event", target, "at most one negation an event")
        elif event is not None:
            self.events[target] = event._replace(negated=True)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
