"""What this machine remembers of the competitions that it changed: which files it put there, and what is to be rerun.

The digests stay here. On the site they would be seen by participants, who could try guesses of the gold on them.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, PrivateAttr

from gen_bundle.check.bundle import Bundle
from gen_bundle.codabench.competition import DataUse
from gen_bundle.difference.files import packed_files
from gen_bundle.json_files import private, read_json, state_file, write_json
from gen_bundle.zips.reading import sha256_of


def content_digest(bundle: Bundle, use: DataUse) -> str | None:
    """SHA-256 over the names and contents of the files of a program or data; None where there are none to read."""
    files = packed_files(bundle, use)
    if files is None:
        return None
    lines = [f"{name}\0{sha256_of(node)}\n" for name, node in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass
class Reruns:
    """The submissions to a phase that were scored by files which have been replaced.

    Attributes:
        due: their ids.
        done: those that were rerun, with the ids of the reruns; also of earlier replacements, since they live on in
            their reruns.
        asked: one whose rerun was asked for, and the newest submission at that time; None once its rerun is known.
    """

    due: list[int] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    asked: tuple[int, int] | None = None

    @property
    def pending(self) -> list[int]:
        """Those that are still to be rerun, the oldest first."""
        return sorted(set(self.due) - set(self.done))

    def newest(self, number: int) -> int:
        """The last rerun of a submission; itself where there is none."""
        while number in self.done:
            number = self.done[number]
        return number


class UpdateRecord(BaseModel):
    """What is remembered of one competition, in a private file outside of all projects.

    Attributes:
        contents: the digests of stored files by their keys.
        reruns: by phase.
    """

    contents: dict[str, str]
    reruns: dict[int, Reruns]
    _file: Path = PrivateAttr()

    def save(self) -> None:
        """Write the file.

        Raises:
            UserError: it cannot be written: no permission, or no space.
        """
        with private():
            write_json(self._file, self.model_dump())


def read_record(server: str, competition: int) -> UpdateRecord:
    """What is remembered of a competition; nothing where it was never changed from here.

    Raises:
        UserError: the file is damaged.
    """
    file = state_file("updates", server, competition)
    record = UpdateRecord(contents={}, reruns={})
    if file.exists():
        advice = "It says what was replaced and rerun: restore it, or delete it to start anew."
        record = UpdateRecord.model_validate(read_json(file, UpdateRecord, advice))
    record._file = file
    return record
