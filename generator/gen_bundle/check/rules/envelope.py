"""The zip itself: whether it can be unpacked, and whether competition.yaml is where it is looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import UPLOAD, ZIPFILE, Effect, Problem, rule
from gen_bundle.codabench.stages import Stage
from gen_bundle.zips.tree import Node

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

MANY_MEMBERS = 20_000
SHOWN = 5


def few(names: list[str]) -> str:
    """Some names for a message, and how many more there are."""
    text = ", ".join(repr(name) for name in names[:SHOWN])
    return text + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


@rule(
    "zip-unreadable",
    Effect.REFUSED,
    Stage.ARCHIVE,
    title="the file is no zip that can be read",
    consequence="The upload ends with `Bad zip file uploaded.`",
    repair="Make the zip again; upload it whole.",
    source=UPLOAD,
    reads="archive",
)
def _zip_unreadable(bundle: Bundle) -> Iterator[Problem]:
    if bundle.archive:
        for member, reason in bundle.archive.failures:
            if member is None:
                yield Problem(f"the zip cannot be read: {reason}")


@rule(
    "zip-member-unreadable",
    Effect.REFUSED,
    Stage.ARCHIVE,
    title="a member of the zip cannot be unpacked",
    consequence="Unpacking stops there and the upload fails.",
    repair="Pack again with plain deflate, without a password, and with names that can exist beside one another.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_member_unreadable(bundle: Bundle) -> Iterator[Problem]:
    for number, (member, reason) in enumerate(bundle.archive.failures if bundle.archive else ()):
        if member is not None:
            yield Problem(f"{member!r} cannot be unpacked: {reason}", file=member, order=(number,))


@rule(
    "zip-bomb",
    Effect.REFUSED,
    Stage.ARCHIVE,
    title="a member is inflated out of all proportion",
    consequence="Unpacking fills the server's disk; the check does not unpack it.",
    repair="Leave the member out, or pack real data.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_bomb(bundle: Bundle) -> Iterator[Problem]:
    for number, name in enumerate(bundle.archive.bombs if bundle.archive else ()):
        yield Problem(f"{name!r} grows more than 200 times, to over 2 GiB", file=name, order=(number,))


@rule(
    "yaml-not-at-root",
    Effect.REFUSED,
    Stage.ARCHIVE,
    title="there is no competition.yaml at the root of the zip",
    consequence="The upload ends with `competition.yaml is missing from zip, check your folder structure …`",
    repair="Zip the files themselves, not the folder that holds them, and call the file exactly competition.yaml.",
    source=UPLOAD,
    reads="archive",
)
def _yaml_not_at_root(bundle: Bundle) -> Iterator[Problem]:
    found = bundle.tree.find("competition.yaml")
    if isinstance(found, Node):
        if found.is_folder:
            yield Problem("competition.yaml is a folder", file="competition.yaml")
        return
    if bundle.archive and any(member is None for member, _ in bundle.archive.failures):
        return
    others = [
        name
        for name in bundle.tree.names()
        if name.rpartition("/")[2].lower() in ("competition.yaml", "competition.yml")
    ]
    hint = f"; there is {few(others)}" if others else ""
    yield Problem(f"there is no competition.yaml at the root{hint}", file="competition.yaml")


@rule(
    "zip-member-replaced",
    Effect.TRAP,
    title="two members of the zip have the same name and different content",
    consequence="The last one wins without a word.",
    repair="Make the zip again from scratch instead of adding to it.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_member_replaced(bundle: Bundle) -> Iterator[Problem]:
    for name in bundle.archive.replaced if bundle.archive else ():
        yield Problem(f"{name!r} is in the zip twice, with different content", file=name)


@rule(
    "zip-odd-name",
    Effect.NOTE,
    title="member names that are changed when they are unpacked",
    consequence="Roots, drive-less slashes and `..` are dropped, what follows a NUL is cut, other names are read in "
    "the DOS code page: the file lies under another name than the zip says.",
    repair="Use plain relative names in UTF-8.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_odd_name(bundle: Bundle) -> Iterator[Problem]:
    odd: list[str] = []
    for member in bundle.archive.members if bundle.archive else ():
        parts = member.filename.split("/")
        changed = member.filename.startswith("/") or ".." in parts or "\0" in member.orig_filename
        unflagged = not member.flag_bits & 0x800 and not member.filename.isascii()
        if changed or unflagged or any(ord(character) < 32 for character in member.filename):
            odd.append(member.filename)
    if odd:
        yield Problem(f"names that are changed or hard to address: {few(odd)}", file=odd[0])


@rule(
    "zip-names-differ-in-case",
    Effect.NOTE,
    title="names that differ only in case",
    consequence="They are two files on the server, and one on most people's computers.",
    repair="Rename one of them.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_names_differ_in_case(bundle: Bundle) -> Iterator[Problem]:
    counted = Counter(name.lower() for name in bundle.tree.names())
    same = [name for name, count in counted.items() if count > 1]
    if same:
        yield Problem(f"names that differ only in case: {few(same)}", file=same[0])


@rule(
    "zip-many-members",
    Effect.NOTE,
    title="a very large number of files",
    consequence="Unpacking takes long.",
    repair="Put large data into one zip of its own inside the bundle.",
    source=UPLOAD,
    reads="archive",
)
def _zip_many_members(bundle: Bundle) -> Iterator[Problem]:
    count = len(bundle.archive.members) if bundle.archive else 0
    if count >= MANY_MEMBERS:
        yield Problem(f"the zip has {count:,} members")


@rule(
    "zip-64",
    Effect.NOTE,
    title="a zip64 archive",
    consequence="It is unpacked as usual; some older tools cannot open it.",
    repair="Nothing needs doing; below 4 GiB a plain zip is enough.",
    source=ZIPFILE,
    reads="archive",
)
def _zip_64(bundle: Bundle) -> Iterator[Problem]:
    if bundle.archive and bundle.archive.zip64:
        yield Problem("the archive uses the zip64 format")
