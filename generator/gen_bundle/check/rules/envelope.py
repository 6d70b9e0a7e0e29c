"""The zip itself, with competition.yaml where the platform looks for it; and that file as YAML, before its meaning."""

import re
from collections.abc import Iterator, Mapping, Sequence

from yaml.nodes import ScalarNode

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import HOUSE, UPLOAD, ZIPFILE, Problem, Topic
from gen_bundle.codabench.reading import NEW_KEYS, YAML_NAME, mistaken_for_yaml
from gen_bundle.codabench.settings import TOP_FIELDS, Stage, Text, huge_keys
from gen_bundle.ground.yaml_document import Path
from gen_bundle.ground.zips.tree import Node

ZIP = Topic("The zip", ZIPFILE, reads="archive", stage=Stage.ARCHIVE)
SHOWN = 5


def few(names: list[str]) -> str:
    """Some names for a message, and how many more there are."""
    text = ", ".join([repr(name) for name in names[:SHOWN]])
    return text + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


@ZIP.refused("the file is not a readable zip", source=UPLOAD)
def _zip_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Bad zip file uploaded.` → Create the zip again, and upload the whole file."""
    for member, reason in bundle.archive.failures:
        if member is None:
            yield Problem(f"the zip cannot be read: {reason}")


@ZIP.refused("a member of the zip cannot be unpacked")
def _zip_member_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """Unpacking stops there and the upload fails.
    → Pack again with plain deflate, without a password, and with names that can exist side by side.
    """
    for number, (member, reason) in enumerate(bundle.archive.failures):
        if member is not None:
            yield Problem(f"{member!r} cannot be unpacked: {reason}", file=member, order=(number,))


@ZIP.refused("a member expands to an enormous size")
def _zip_bomb(bundle: Bundle) -> Iterator[Problem]:
    """Unpacking it would fill the server's disk; the check leaves it packed. → Leave it out, or pack real data."""
    for number, name in enumerate(bundle.archive.bombs):
        yield Problem(f"{name!r} expands more than 200 times, to over 2 GiB", file=name, order=(number,))


@ZIP.refused("there is no competition.yaml at the root of the zip", source=UPLOAD)
def _yaml_not_at_root(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `competition.yaml is missing from zip, check your folder structure …`
    → Zip the files themselves, not the folder around them, and name the file exactly competition.yaml.
    """
    found = bundle.tree.find(YAML_NAME)
    if isinstance(found, Node):
        if found.is_folder:
            yield Problem(f"{YAML_NAME} is a folder", file=YAML_NAME)
        return
    if any(member is None for member, _ in bundle.archive.failures):
        return
    others = mistaken_for_yaml(bundle.tree.names())
    hint = f"; there is {few(others)}" if others else ""
    yield Problem(f"there is no {YAML_NAME} at the root{hint}", file=YAML_NAME)


@ZIP.trap("two members of the zip have the same name and different content")
def _zip_member_replaced(bundle: Bundle) -> Iterator[Problem]:
    """The last one silently replaces the others. → Create the zip from scratch instead of adding to it."""
    for name in bundle.archive.replaced:
        yield Problem(f"{name!r} is in the zip twice, with different content", file=name)


@ZIP.note("member names that change when they are unpacked")
def _zip_odd_name(bundle: Bundle) -> Iterator[Problem]:
    """A leading / and `..` are dropped, what follows a NUL is cut off, and names not marked as UTF-8 are read in the
    DOS code page: the file is not unpacked under the name in the zip.
    → Use plain relative names in UTF-8.
    """
    odd: list[str] = []
    for member in bundle.archive.members:
        parts = member.filename.split("/")
        changed = member.filename.startswith("/") or ".." in parts or "\0" in member.orig_filename
        unflagged = not member.flag_bits & 0x800 and not member.filename.isascii()
        if changed or unflagged or min(member.filename, default=" ") < " ":
            odd.append(member.filename)
    if odd:
        yield Problem(f"names that change or are hard to refer to: {few(odd)}", file=odd[0])


@ZIP.note("a symbolic link in the zip")
def _zip_link(bundle: Bundle) -> Iterator[Problem]:
    """It is unpacked as a small text file that holds the link's target. → Pack the file itself."""
    for name in bundle.archive.links:
        yield Problem(f"{name!r} is a symbolic link", file=name)


YAML = Topic("competition.yaml as YAML", UPLOAD, reads="both", stage=Stage.YAML)


@YAML.refused("`competition.yaml` is not YAML that the platform can read", reads="archive")
def _yaml_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Error parsing competition.yaml: …`, or with `Failed to read competition.yaml: …` (1.25:
    `Unpacking the bundle failed. Here is the error log: …`) and the YAML error.
    → Fix the text at that place; save it as UTF-8; quote values that start with @, %, &, *, !, or `.
    """
    fault = bundle.unreadable
    if fault:
        yield Problem(f"{YAML_NAME} {fault}", file=YAML_NAME, line=fault.line, column=fault.column)


@YAML.refused("`competition.yaml` is empty or not a mapping", reads="archive")
def _yaml_no_mapping(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `… object has no attribute 'get'`. → Start with `version: 2` at the left margin."""
    if bundle.document and not isinstance(bundle.document.value, Mapping):
        kind = "empty" if bundle.document.value is None else f"a {type(bundle.document.value).__name__}"
        yield Problem(f"{YAML_NAME} is {kind}, and must be a mapping", file=YAML_NAME, line=1, column=1)


@YAML.refused("a version that the platform does not know", stage=Stage.VERSION)
def _version_unknown(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `A suitable version could not be found for this competition. …`
    → Write `version: 2` (2.0 is not the same text), or 1.5 for the old format.
    Example: not `version: 2.0`, but `version: 2`.
    """
    if bundle.version not in ("1", "1.5", "2"):
        yield Problem(f"version is {bundle.version!r}; known are 2, and 1 or 1.5 for the old format", ("version",))


@YAML.refused("a bundle of the new format without `version: 2`", reads="v2", stage=Stage.VERSION)
def _version_missing(bundle: Bundle) -> Iterator[Problem]:
    """It is read as the old format: `HTML pages could not be found in the yaml file`. → Add `version: 2` at the top."""
    if bundle.version in ("1", "1.5"):
        new_keys = ", ".join(key for key in NEW_KEYS if key in bundle.yaml)
        yield Problem(f"`version: 2` is missing, though {new_keys} belong to the new format", ("version",))


@YAML.refused("aliases that expand to an enormous value", reads="archive")
def _yaml_bomb(bundle: Bundle) -> Iterator[Problem]:
    """Storing the value takes all of the server's memory. → Write the value out, or leave it out."""
    for key in huge_keys(bundle):
        yield Problem(f"{key} repeats itself through aliases, endlessly or nearly so", (key,))


@YAML.trap(
    "the same key twice in one mapping", source="YAML 1.2.2, section 3.2.1.1 (keys are unique); PyYAML keeps the last"
)
def _yaml_key_repeated(bundle: Bundle) -> Iterator[Problem]:
    """The last one silently wins. → Delete the wrong one."""
    for repeated in bundle.document.repeated if bundle.document else ():
        line, column = repeated.place
        yield Problem(f"{repeated.key} occurs twice in the same mapping", file=YAML_NAME, line=line, column=column)


@YAML.trap("a # cuts off an unquoted text", source="YAML 1.2.2, section 6.6 (comments)")
def _yaml_hash_cuts_text(bundle: Bundle) -> Iterator[Problem]:
    """The text after the # is a comment and is not stored. → Put the text in quotes.
    Example: not `title: Task #1`, which is stored as Task, but `title: "Task #1"`.
    """
    if bundle.document is None:
        return
    lines = bundle.document.text.split("\n")
    for path in _displayed(bundle, ("title", "description", "reward"), ("title", "name", "description")):
        node = bundle.document.node(path)
        is_plain = isinstance(node, ScalarNode) and node.style is None and node.tag.endswith(":str")
        if node is not None and is_plain and node.end_mark.line < len(lines):
            comment = lines[node.end_mark.line][node.end_mark.column :].lstrip()
            # "# a remark" is an intended comment; "#1 of the lab" continues the text
            if comment.startswith("#") and comment[1:2].strip():
                yield Problem(f"{path[-1]} ends before {comment[:30]!r}", path)


def _displayed(bundle: Bundle, keys: Sequence[str], inner_keys: tuple[str, ...]) -> Iterator[Path]:
    """Where competition.yaml may hold texts that the platform displays: at its top, and in its lists."""
    for key in keys:
        yield (key,)
    for place in (("pages",), ("tasks",), ("phases",), ("leaderboards",), ("leaderboards", 0, "columns")):
        for entry in bundle.entries(*place):
            for key in inner_keys:
                yield (*entry.at, key)


PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.|-][^{}]*\}\}|\{%.*?%\}|\b(?:TODO|FIXME|CHANGEME|CHANGE_ME|XXX+)\b"
    r"|<(?:your|insert)\b[^<>]*>|\[(?:your|insert)\b[^\[\]]*\]|[Ll]orem ipsum|\$\{[A-Z_]+\}"
)


@YAML.trap("a placeholder that was never filled in", source=HOUSE)
def _placeholder_left(bundle: Bundle) -> Iterator[Problem]:
    """Participants see it. → Write the real text."""
    keys = [field.key for field in TOP_FIELDS if isinstance(field.kind, Text)]
    for path in _displayed(bundle, keys, ("title", "name")):
        value = bundle.value(path)
        found = PLACEHOLDER.search(value) if isinstance(value, str) else None
        if found:
            yield Problem(f"{path[-1]} contains {found.group()!r}", path)
