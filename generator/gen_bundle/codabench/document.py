"""competition.yaml as every reader starts from it: its value, its format, and the lists of mappings in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.codabench.yaml_document import Document, Path

YAML_NAME = "competition.yaml"
NEW_KEYS = ("pages", "tasks", "leaderboards", "terms")


@dataclass(frozen=True)
class Entry:
    """An item of a list of mappings in competition.yaml."""

    at: Path
    position: int
    value: Mapping[Any, Any]

    def get(self, key: str) -> Any:
        return self.value.get(key)


@dataclass
class CompetitionYaml:
    """What competition.yaml says, whatever it says.

    Attributes:
        now: the moment against which dates are judged, and from which incomplete ones take what they lack.
        document: the parsed file; None where it cannot be read.
        platform: the platform's version, where its versions differ.
    """

    now: datetime
    document: Document | None = None
    platform: PlatformVersion = NEWEST

    @property
    def yaml(self) -> Mapping[Any, Any]:
        """The top of competition.yaml; empty when it is not a mapping."""
        value = self.document.value if self.document else None
        return value if isinstance(value, Mapping) else {}

    @property
    def version(self) -> str:
        """The version as the platform compares it."""
        return str(self.yaml.get("version", "1"))

    @property
    def format(self) -> Literal["v2", "v1"]:
        """The format that the file is written in, also where its version says another one."""
        new = "html" not in self.yaml and any(key in self.yaml for key in NEW_KEYS)
        return "v2" if self.version == "2" or new else "v1"

    def value(self, at: Path) -> Any:
        """The value at a path of competition.yaml; None where there is none."""
        value: Any = self.yaml
        for key in at:
            if isinstance(value, Mapping):
                value = value.get(key)
            else:
                value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
        return value

    def mapping(self, at: Path) -> Mapping[Any, Any]:
        """The mapping at a path of competition.yaml; empty where something else is there."""
        value = self.value(at)
        return value if isinstance(value, Mapping) else {}

    def entries(self, *at: Any) -> list[Entry]:
        """The mappings in the list at a path of competition.yaml; anything else is left out."""
        value = self.value(at)
        items = enumerate(value if isinstance(value, list) else ())
        return [Entry((*at, index), index, item) for index, item in items if isinstance(item, Mapping)]
