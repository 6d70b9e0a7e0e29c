"""competition.yaml as a YAML text, before its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from yaml.nodes import Node, ScalarNode

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import HOUSE, UPLOAD, Effect, Problem, rule
from gen_bundle.codabench.document import NEW_KEYS
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.yaml_document import Path

NAME = "competition.yaml"


@rule(
    "yaml-unreadable",
    Effect.REFUSED,
    Stage.YAML,
    title="competition.yaml is no YAML that the platform can read",
    consequence="The upload ends with `Unpacking the bundle failed. Here is the error log: …` and the YAML error.",
    repair="Mend the text at the place named; save it as UTF-8; quote values that start with @, %, &, *, !, or `.",
    source=UPLOAD,
    reads="archive",
)
def _yaml_unreadable(bundle: Bundle) -> Iterator[Problem]:
    fault = bundle.unreadable
    if fault:
        yield Problem(f"{NAME} {fault}", file=NAME, line=fault.line, column=fault.column)


@rule(
    "yaml-no-mapping",
    Effect.REFUSED,
    Stage.YAML,
    title="competition.yaml is empty or no mapping of keys to values",
    consequence="The upload ends with `… object has no attribute 'get'`.",
    repair="Start with `version: 2` and the other keys at the left margin.",
    source=UPLOAD,
    reads="archive",
)
def _yaml_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    if bundle.document and not isinstance(bundle.document.value, Mapping):
        kind = "empty" if bundle.document.value is None else f"a {type(bundle.document.value).__name__}"
        yield Problem(f"{NAME} is {kind}, and must be a mapping", file=NAME, line=1, column=1)


@rule(
    "version-unknown",
    Effect.REFUSED,
    Stage.VERSION,
    title="a version that the platform does not know",
    consequence="The upload ends with `A suitable version could not be found for this competition. …`",
    repair="Write `version: 2` (2.0 is another text), or 1.5 for the old format.",
    source=UPLOAD,
    reads="both",
)
def _version_unknown(bundle: Bundle) -> Iterator[Problem]:
    if bundle.version not in ("1", "1.5", "2"):
        yield Problem(f"version is {bundle.version!r}; known are 2, and 1 or 1.5 for the old format", ("version",))


@rule(
    "version-missing",
    Effect.REFUSED,
    Stage.VERSION,
    title="a bundle of the new format without `version: 2`",
    consequence="It is read as the old format: `HTML pages could not be found in the yaml file`.",
    repair="Add `version: 2` at the top of competition.yaml.",
    source=UPLOAD,
    reads="v2",
)
def _version_missing(bundle: Bundle) -> Iterator[Problem]:
    if bundle.version in ("1", "1.5"):
        new_keys = ", ".join(key for key in NEW_KEYS if key in bundle.yaml)
        yield Problem(f"there is no `version: 2`, though {new_keys} belong to the new format", ("version",))


@rule(
    "yaml-bomb",
    Effect.REFUSED,
    Stage.YAML,
    title="aliases that grow beyond all measure",
    consequence="Storing the value takes all of the server's memory.",
    repair="Write the value out, or leave it away.",
    source=UPLOAD,
    reads="archive",
)
def _yaml_bomb(bundle: Bundle) -> Iterator[Problem]:
    for key in bundle.huge:
        yield Problem(f"{key} repeats itself through aliases without end or nearly so", (key,))


@rule(
    "yaml-key-repeated",
    Effect.TRAP,
    title="the same key twice in one mapping",
    consequence="The last one wins without a word.",
    repair="Delete the one that is not meant.",
    source="YAML 1.2.2, section 3.2.1.1 (keys are unique); PyYAML keeps the last",
    reads="both",
)
def _yaml_key_repeated(bundle: Bundle) -> Iterator[Problem]:
    for key, line, column in bundle.document.repeated if bundle.document else ():
        yield Problem(f"{key} stands twice in the same mapping", file=NAME, line=line, column=column)


@rule(
    "yaml-hash-cuts-text",
    Effect.TRAP,
    title="a # cuts a text that is not in quotes",
    consequence="What follows the # is a comment: the stored text is cut.",
    repair="Put the text in quotes.",
    source="YAML 1.2.2, section 6.6 (comments)",
    reads="both",
)
def _yaml_hash_cuts_text(bundle: Bundle) -> Iterator[Problem]:
    document = bundle.document
    if document is None:
        return
    lines = document.text.split("\n")
    for path, node in _plain_texts(bundle):
        if node.end_mark.line < len(lines):
            comment = lines[node.end_mark.line][node.end_mark.column :].lstrip()
            # "# a remark" is a comment that somebody meant; "#1 of the lab" continues the text
            if comment.startswith("#") and comment[1:2].strip():
                yield Problem(f"{path[-1]} ends before {comment[:30]!r}", path)


def _plain_texts(bundle: Bundle) -> Iterator[tuple[Path, Node]]:
    """The texts that people read and that are not in quotes."""
    document = bundle.document
    owners = [entry.at for name in ("pages", "tasks", "phases", "leaderboards") for entry in bundle.entries(name)]
    owners += [column.at for column in bundle.entries("leaderboards", 0, "columns")]
    places: list[Path] = [(key,) for key in ("title", "description", "reward")]
    places += [(*at, key) for at in owners for key in ("title", "name", "description")]
    for path in places:
        node = document.node(path) if document else None
        if isinstance(node, ScalarNode) and node.style is None and node.tag.endswith(":str"):
            yield path, node


PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.|-][^{}]*\}\}|\{%.*?%\}|\b(?:TODO|FIXME|CHANGEME|CHANGE_ME|XXX+)\b"
    r"|<(?:your|insert)\b[^<>]*>|\[(?:your|insert)\b[^\[\]]*\]|[Ll]orem ipsum|\$\{[A-Z_]+\}"
)


@rule(
    "placeholder-left",
    Effect.TRAP,
    title="a placeholder that was never filled in",
    consequence="Participants see it.",
    repair="Write the real text.",
    source=HOUSE,
    reads="both",
)
def _placeholder_left(bundle: Bundle) -> Iterator[Problem]:
    for path, value in _shown_values(bundle):
        found = PLACEHOLDER.search(value)
        if found:
            yield Problem(f"{path[-1]} holds {found.group()!r}", path)


def _shown_values(bundle: Bundle) -> Iterator[tuple[Path, str]]:
    """The texts of competition.yaml that people read."""
    top = [
        ((key,), bundle.yaml.get(key)) for key in ("title", "description", "docker_image", "reward", "contact_email")
    ]
    owners = [entry for name in ("pages", "tasks", "phases", "leaderboards") for entry in bundle.entries(name)]
    owners += bundle.entries("leaderboards", 0, "columns")
    inside = [((*entry.at, key), entry.get(key)) for entry in owners for key in ("title", "name")]
    return ((path, value) for path, value in [*top, *inside] if isinstance(value, str))
