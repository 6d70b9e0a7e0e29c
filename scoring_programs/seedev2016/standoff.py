"""BioNLP-ST standoff annotation: entities of `.a1` files and events of `.a2` files.

Source: BioNLP-ST 2013 "File formats" (http://2013.bionlp-st.org/file-formats), as SeeDev uses it: events have no
trigger, negations stand on `M` lines, `R` ids are read like `E` ids.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from scoring_kit.faults import Fault
from seedev2016.schema import COMMUTATIVE, ENTITY_TYPES, EVENT_TYPES, PREREQUISITE, EventType

_ENTITY_ID = re.compile(r"T[0-9]+")
_EVENT_ID = re.compile(r"[ER][0-9]+")
_NEGATION = re.compile(r"Negation +Annotation:(\S+)")
_MODIFICATION_ID = re.compile(r"M[0-9]+")
_SPANS = re.compile(r"[0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*")


class Entity(NamedTuple):
    """An entity: its type, and its fragments as (start, end) in characters of the text, half open."""

    type: str
    fragments: Tuple[Tuple[int, int], ...]
    surface: str


class Event(NamedTuple):
    """An event.

    Attributes:
        type: name of the event type.
        fillers: entities of the two mandatory arguments, in the order of the schema.
        optional: the optional arguments as (role, filler); the filler of a Prerequisite_Event is that event's `key`.
        negated: whether a Negation is attached to it.
    """

    type: str
    fillers: Tuple[str, str]
    optional: FrozenSet[Tuple[str, Any]]
    negated: bool

    @property
    def key(self) -> Tuple[str, Tuple[str, str]]:
        """Type and mandatory arguments: equal for two events exactly when S_p of SeeDev-binary is 1."""
        first, second = self.fillers
        if self.type in COMMUTATIVE and second < first:
            return self.type, (second, first)
        return self.type, self.fillers


NO_ARGUMENTS: FrozenSet[Tuple[str, Any]] = frozenset()


def read_entities(text: str, name: str, fault: Fault) -> Dict[str, Entity]:
    """The entities of an `.a1` file by id; every fault is told and its line left out."""
    entities: Dict[str, Entity] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        identifier, _, body = line.partition("\t")
        annotation, _, surface = body.partition("\t")
        kind, _, spans = annotation.partition(" ")
        where = f"{name}:{number}"
        if not (_ENTITY_ID.fullmatch(identifier) and _SPANS.fullmatch(spans)):
            fault(where, "not an entity", line, "Expected T1<TAB>Type start end[;start end]<TAB>text")
        elif kind not in ENTITY_TYPES:
            fault(where, "unknown entity type", kind, f"Expected one of {_listed(ENTITY_TYPES)}")
        elif identifier in entities:
            fault(where, "repeated entity id", identifier, "Expected each id once")
        else:
            entities[sys.intern(identifier)] = Entity(sys.intern(kind), _fragments(spans), surface)
    return entities


def _fragments(spans: str) -> Tuple[Tuple[int, int], ...]:
    edges = (fragment.split(" ") for fragment in spans.split(";"))
    return tuple((int(start), int(end)) for start, end in edges)


def read_events(text: str, name: str, task: str, entities: Mapping[str, str], fault: Fault) -> List[Event]:
    """The events of an `.a2` file in the order of the file; every fault is told.

    Args:
        text: the file's content.
        name: its name in messages.
        task: `binary` or `full`, which decides on the event types and on what is optional.
        entities: id → type of the document's entities, which alone may be arguments.
        fault: told of everything that the schema does not allow.
    """
    return _EventReader(name, task, entities, fault).read(text)


class _EventReader:
    """Reads one `.a2` file: its lines first, then what they refer to, which may stand further down."""

    def __init__(self, name: str, task: str, entities: Mapping[str, str], fault: Fault) -> None:
        self.name = name
        self.task = task
        self.types = EVENT_TYPES[task]
        self.entities = entities
        self.tell = fault
        # None where the line has a fault: what refers to it is then no second one.
        self.events: Dict[str, Optional[Event]] = {}
        self.prerequisites: List[Tuple[int, str, str]] = []
        self.modifications: Dict[str, Tuple[int, str]] = {}

    def fault(self, number: int, rule: str, value: str, expected: str) -> None:
        self.tell(f"{self.name}:{number}", rule, value, f"Expected {expected}")

    def read(self, text: str) -> List[Event]:
        for number, line in enumerate(text.split("\n"), 1):
            line = line.strip()
            if line:
                self._read_line(line, number)
        for number, identifier, prerequisite in self.prerequisites:
            self._resolve_prerequisite(number, identifier, prerequisite)
        for number, target in self.modifications.values():
            self._negate(number, target)
        return [event for event in self.events.values() if event is not None]

    def _read_line(self, line: str, number: int) -> None:
        identifier, tab, body = line.partition("\t")
        if tab and _EVENT_ID.fullmatch(identifier):
            if identifier in self.events:
                self.fault(number, "repeated event id", identifier, "each id once")
            else:
                self.events[identifier] = self._event(identifier, body.split(), number)
        elif tab and self.task == "full" and _MODIFICATION_ID.fullmatch(identifier):
            self._read_modification(identifier, body, number)
        else:
            negation = " or M1<TAB>Negation Annotation:E1" if self.task == "full" else ""
            self.fault(number, "not an event", line, f"E1<TAB>Type Role:T1 Role:T2{negation}")

    def _event(self, identifier: str, words: List[str], number: int) -> Optional[Event]:
        kind = self.types.get(words[0])
        if kind is None:
            self.fault(number, "unknown event type", words[0], f"one of {_listed(self.types)}")
            return None
        arguments: Dict[str, str] = {}
        sound = True
        for word in words[1:]:
            role, _, filler = word.partition(":")
            if role in arguments:
                self.fault(number, "repeated role", role, "each role once")
                sound = False
            elif self._fits(kind, role, filler, number):
                arguments[role] = sys.intern(filler)
            else:
                sound = False
        if not sound:
            return None
        first = self._mandatory(kind, kind.mandatory[0], arguments, number)
        second = self._mandatory(kind, kind.mandatory[1], arguments, number)
        if first is None or second is None:
            return None
        if not arguments:
            return Event(kind.name, (first, second), NO_ARGUMENTS, negated=False)
        if PREREQUISITE in arguments:
            self.prerequisites.append((number, identifier, arguments.pop(PREREQUISITE)))
        return Event(kind.name, (first, second), frozenset(arguments.items()), negated=False)

    def _fits(self, kind: EventType, role: str, filler: str, number: int) -> bool:
        """Whether the role belongs to the event type and the filler to the role."""
        allowed = kind.roles.get(role)
        if allowed is None:
            self.fault(number, "unknown role", role, f"one of the roles of {kind.name}: {', '.join(kind.roles)}")
            return False
        entity = self.entities.get(filler)
        if entity in allowed or role == PREREQUISITE:
            return True
        if entity is None:
            self.fault(number, "unknown entity", f"{role}:{filler}", "the id of an entity in the document's .a1 file")
        else:
            types = _listed(allowed)
            self.fault(number, "entity of a wrong type", f"{role}:{filler} ({entity})", f"an entity of type {types}")
        return False

    def _mandatory(
        self, kind: EventType, roles: Tuple[str, ...], arguments: Dict[str, str], number: int
    ) -> Optional[str]:
        """The filler of a mandatory argument, taken out of `arguments`."""
        fillers = [arguments.pop(role) for role in roles if role in arguments]
        if len(fillers) == 1:
            return fillers[0]
        rule = "two roles of which one excludes the other" if fillers else "missing mandatory argument"
        self.fault(number, rule, " or ".join(roles), f"exactly one {' or '.join(roles)} in a {kind.name} event")
        return None

    def _read_modification(self, identifier: str, body: str, number: int) -> None:
        negation = _NEGATION.fullmatch(body)
        if identifier in self.modifications:
            self.fault(number, "repeated modification id", identifier, "each id once")
        elif negation is None:
            self.fault(number, "not a negation", body, "M1<TAB>Negation Annotation:E1")
        else:
            self.modifications[identifier] = (number, negation.group(1))

    def _resolve_prerequisite(self, number: int, identifier: str, prerequisite: str) -> None:
        """Put the event that a Prerequisite_Event names in the place of its id."""
        event, target = self.events[identifier], self.events.get(prerequisite)
        if prerequisite not in self.events:
            self.fault(number, "unknown event", f"{PREREQUISITE}:{prerequisite}", "the id of an event of this file")
        elif event is not None and target is not None:
            allowed = self.types[event.type].roles[PREREQUISITE]
            if target.type in allowed:
                self.events[identifier] = event._replace(optional=event.optional | {(PREREQUISITE, target.key)})
            else:
                value = f"{PREREQUISITE}:{prerequisite} ({target.type})"
                self.fault(number, "event of a wrong type", value, f"an event of type {_listed(allowed)}")

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
