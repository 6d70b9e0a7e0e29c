"""competition.yaml read whole: the competition that the platform would create of it, whichever format it has."""

from functools import cached_property

from gen_bundle.codabench.competition import Competition, read_v2
from gen_bundle.codabench.document import CompetitionYaml
from gen_bundle.codabench.keys import OLD_TOP_KEYS, TOP_KEYS
from gen_bundle.codabench.old_competition import read_v1
from gen_bundle.codabench.yaml_document import is_endless


class ReadYaml(CompetitionYaml):
    """competition.yaml, and what follows from it."""

    @cached_property
    def competition(self) -> Competition:
        """The competition that the platform would create, read leniently."""
        return read_v2(self) if self.format == "v2" else read_v1(self)

    @cached_property
    def huge(self) -> list[str]:
        """The top-level keys that are read and whose values become enormous once their aliases are written out."""
        return [key for key in sorted(TOP_KEYS | OLD_TOP_KEYS) if is_endless(self.yaml.get(key))]
