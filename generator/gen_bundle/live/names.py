"""Names of people and phases as names of folders, and the pseudonyms under which results are published."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from gen_bundle.live.json_files import private, read_json, write_json
from gen_bundle.remembered import state_folder

_LOOKS_LIKE_A_DATE = re.compile(r"\d{4}-?\d\d-?\d\d.*")
LONGEST = 80


def folder_name(name: str) -> str:
    """A folder for somebody; different for different names, and never hidden or taken for a date."""
    plain = re.sub(r"[^\w.@+-]", "_", name)[:LONGEST].strip(".")
    if plain == name and plain and not _LOOKS_LIKE_A_DATE.fullmatch(plain):
        return plain
    return f"user-{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def file_name(name: object) -> str:
    """The name of a submission's file, as a zip's."""
    base = re.sub(r"[^\w.@+ -]", "_", str(name or "").replace("\\", "/").rpartition("/")[2]).strip()
    stem = base.removesuffix(".zip").strip(" .")[:LONGEST]
    return f"{stem or 'submission'}.zip"


def folder_of_phase(index: object, name: str) -> str:
    """A folder for a phase, such as `1-final-phase`."""
    return re.sub(r"[^\w]+", "-", f"{index}-{name}".casefold()).strip("-")[:LONGEST]


class Pseudonyms:
    """Lasting pseudonyms of a competition's participants, kept in a private file outside of what is fetched."""

    def __init__(self, server: str, competition: int) -> None:
        self._file = state_folder() / "pseudonyms" / f"{urlsplit(server).netloc.replace(':', '-')}-{competition}.json"
        self._names: dict[str, str] = {}
        if self._file.exists():
            advice = "It says who has which pseudonym: restore it."
            self._names = read_json(self._file, dict[str, str], advice)

    def add(self, names: Iterable[str]) -> None:
        """Give those a pseudonym who have none, in an order that says nothing, and keep it.

        Raises:
            UserError: the file cannot be written.
        """
        new = sorted(set(names) - set(self._names))
        if not new:
            return
        secrets.SystemRandom().shuffle(new)
        for number, name in enumerate(new, len(self._names) + 1):
            self._names[name] = f"participant-{number:03d}"
        with private():
            write_json(self._file, self._names)

    def of(self, name: str) -> str:
        """The pseudonym of somebody who was added."""
        return self._names[name]


class Names:
    """Who is who: the names as they are, or pseudonyms with nothing that leads back to a person."""

    def __init__(self, hidden: Pseudonyms | None) -> None:
        self.hidden = hidden

    def add(self, names: Iterable[str]) -> None:
        """Make people known, so that they have a pseudonym."""
        if self.hidden is not None:
            self.hidden.add(names)

    def of(self, name: str) -> str:
        """What somebody who was added is called."""
        return name if self.hidden is None else self.hidden.of(name)

    def participant(self, row: Mapping[str, Any]) -> dict[str, Any]:
        kept = ("username", "status", "is_bot") if self.hidden else ("id", "username", "email", "status", "is_bot")
        return {key: row.get(key) for key in kept} | {"username": self.of(row["username"])}
