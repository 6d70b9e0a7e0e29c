"""competition.yaml as YAML text, before its meaning."""

import re
from collections.abc import Iterator, Mapping

from yaml.nodes import Node, ScalarNode

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import HOUSE, UPLOAD, Problem, Topic
from gen_bundle.codabench.reading import NEW_KEYS, YAML_NAME
from gen_bundle.codabench.serializer_fields import huge_keys
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.yaml_document import Path

YAML = Topic("competition.yaml as YAML", UPLOAD, reads="both", stage=Stage.YAML)


@YAML.refused("yaml-unreadable", "`competition.yaml` is not YAML that the platform can read", reads="archive")
def _yaml_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Error parsing competition.yaml: …`, or with `Failed to read competition.yaml: …` (1.25:
    `Unpacking the bundle failed. Here is the error log: …`) and the YAML error.
    → Fix the text at that place; save it as UTF-8; quote values that start with @, %, &, *, !, or `.
    """
    fault = bundle.unreadable
    if fault:
        yield Problem(f"{YAML_NAME} {fault}", file=YAML_NAME, line=fault.line, column=fault.column)


@YAML.refused("yaml-no-mapping", "`competition.yaml` is empty or not a mapping", reads="archive")
def _yaml_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `… object has no attribute 'get'`. → Start with `version: 2` at the left margin."""
    if bundle.document and not isinstance(bundle.document.value, Mapping):
        kind = "empty" if bundle.document.value is None else f"a {type(bundle.document.value).__name__}"
        yield Problem(f"{YAML_NAME} is {kind}, and must be a mapping", file=YAML_NAME, line=1, column=1)


@YAML.refused("version-unknown", "a version that the platform does not know", stage=Stage.VERSION)
def _version_unknown(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `A suitable version could not be found for this competition. …`
    → Write `version: 2` (2.0 is not the same text), or 1.5 for the old format.
    """
    if bundle.version not in ("1", "1.5", "2"):
        yield Problem(f"version is {bundle.version!r}; known are 2, and 1 or 1.5 for the old format", ("version",))


@YAML.refused("version-missing", "a bundle of the new format without `version: 2`", reads="v2", stage=Stage.VERSION)
def _version_missing(bundle: Bundle) -> Iterator[Problem]:
    """It is read as the old format: `HTML pages could not be found in the yaml file`. → Add `version: 2` at the top."""
    if bundle.version in ("1", "1.5"):
        new_keys = ", ".join(key for key in NEW_KEYS if key in bundle.yaml)
        yield Problem(f"`version: 2` is missing, though {new_keys} belong to the new format", ("version",))


@YAML.refused("yaml-bomb", "aliases that expand to an enormous value", reads="archive")
def _yaml_bomb(bundle: Bundle) -> Iterator[Problem]:
    """Storing the value takes all of the server's memory. → Write the value out, or leave it out."""
    for key in huge_keys(bundle):
        yield Problem(f"{key} repeats itself through aliases, endlessly or nearly so", (key,))


@YAML.trap(
    "yaml-key-repeated",
    "the same key twice in one mapping",
    source="YAML 1.2.2, section 3.2.1.1 (keys are unique); PyYAML keeps the last",
)
def _yaml_key_repeated(bundle: Bundle) -> Iterator[Problem]:
    """The last one silently wins. → Delete the wrong one."""
    for key, line, column in bundle.document.repeated if bundle.document else ():
        yield Problem(f"{key} occurs twice in the same mapping", file=YAML_NAME, line=line, column=column)


@YAML.trap("yaml-hash-cuts-text", "a # cuts off an unquoted text", source="YAML 1.2.2, section 6.6 (comments)")
def _yaml_hash_cuts_text(bundle: Bundle) -> Iterator[Problem]:
    """What follows the # is a comment and is not stored. → Put the text in quotes."""
    lines = bundle.document.text.split("\n") if bundle.document else []
    for path, node in _plain_texts(bundle):
        if node.end_mark.line < len(lines):
            comment = lines[node.end_mark.line][node.end_mark.column :].lstrip()
            # "# a remark" is an intended comment; "#1 of the lab" continues the text
            if comment.startswith("#") and comment[1:2].strip():
                yield Problem(f"{path[-1]} ends before {comment[:30]!r}", path)


def _displayed(bundle: Bundle, keys: tuple[str, ...], inner_keys: tuple[str, ...]) -> Iterator[Path]:
    """Where competition.yaml may hold texts that the platform displays: at its top, and in its lists."""
    yield from ((key,) for key in keys)
    owners = [entry for name in ("pages", "tasks", "phases", "leaderboards") for entry in bundle.entries(name)]
    owners += bundle.entries("leaderboards", 0, "columns")
    yield from ((*entry.at, key) for entry in owners for key in inner_keys)


def _plain_texts(bundle: Bundle) -> Iterator[tuple[Path, Node]]:
    """The unquoted texts that the platform displays."""
    for path in _displayed(bundle, ("title", "description", "reward"), ("title", "name", "description")):
        node = bundle.document.node(path) if bundle.document else None
        if isinstance(node, ScalarNode) and node.style is None and node.tag.endswith(":str"):
            yield path, node


PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.|-][^{}]*\}\}|\{%.*?%\}|\b(?:TODO|FIXME|CHANGEME|CHANGE_ME|XXX+)\b"
    r"|<(?:your|insert)\b[^<>]*>|\[(?:your|insert)\b[^\[\]]*\]|[Ll]orem ipsum|\$\{[A-Z_]+\}"
)


@YAML.trap("placeholder-left", "a placeholder that was never filled in", source=HOUSE)
def _placeholder_left(bundle: Bundle) -> Iterator[Problem]:
    """Participants see it. → Write the real text."""
    keys = ("title", "description", "docker_image", "reward", "contact_email")
    for path in _displayed(bundle, keys, ("title", "name")):
        value = bundle.value(path)
        found = PLACEHOLDER.search(value) if isinstance(value, str) else None
        if found:
            yield Problem(f"{path[-1]} contains {found.group()!r}", path)
