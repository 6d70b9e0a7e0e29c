"""The zip itself: whether it can be unpacked, and whether competition.yaml is where the platform looks for it."""

from collections import Counter
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import UPLOAD, ZIPFILE, Problem, Topic
from gen_bundle.codabench.reading import YAML_NAME
from gen_bundle.codabench.stages import Stage
from gen_bundle.zips.tree import Node

ZIP = Topic("The zip", ZIPFILE, reads="archive", stage=Stage.ARCHIVE)
MANY_MEMBERS = 20_000
SHOWN = 5


def few(names: list[str]) -> str:
    """Some names for a message, and how many more there are."""
    text = ", ".join(repr(name) for name in names[:SHOWN])
    return text + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


@ZIP.refused("zip-unreadable", "the file is not a readable zip", source=UPLOAD)
def _zip_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Bad zip file uploaded.` → Create the zip again, and upload the whole file."""
    for member, reason in bundle.archive.failures if bundle.archive else ():
        if member is None:
            yield Problem(f"the zip cannot be read: {reason}")


@ZIP.refused("zip-member-unreadable", "a member of the zip cannot be unpacked")
def _zip_member_unreadable(bundle: Bundle) -> Iterator[Problem]:
    """Unpacking stops there and the upload fails.
    → Pack again with plain deflate, without a password, and with names that can exist side by side.
    """
    for number, (member, reason) in enumerate(bundle.archive.failures if bundle.archive else ()):
        if member is not None:
            yield Problem(f"{member!r} cannot be unpacked: {reason}", file=member, order=(number,))


@ZIP.refused("zip-bomb", "a member expands to an enormous size")
def _zip_bomb(bundle: Bundle) -> Iterator[Problem]:
    """Unpacking it would fill the server's disk; the check leaves it packed. → Leave it out, or pack real data."""
    for number, name in enumerate(bundle.archive.bombs if bundle.archive else ()):
        yield Problem(f"{name!r} expands more than 200 times, to over 2 GiB", file=name, order=(number,))


@ZIP.refused("yaml-not-at-root", "there is no competition.yaml at the root of the zip", source=UPLOAD)
def _yaml_not_at_root(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `competition.yaml is missing from zip, check your folder structure …`
    → Zip the files themselves, not the folder around them, and name the file exactly competition.yaml.
    """
    found = bundle.tree.find(YAML_NAME)
    if isinstance(found, Node):
        if found.is_folder:
            yield Problem(f"{YAML_NAME} is a folder", file=YAML_NAME)
        return
    if bundle.archive and any(member is None for member, _ in bundle.archive.failures):
        return
    similar = (YAML_NAME, "competition.yml")
    others = [name for name in bundle.tree.names() if name.rpartition("/")[2].lower() in similar]
    hint = f"; there is {few(others)}" if others else ""
    yield Problem(f"there is no {YAML_NAME} at the root{hint}", file=YAML_NAME)


@ZIP.trap("zip-member-replaced", "two members of the zip have the same name and different content")
def _zip_member_replaced(bundle: Bundle) -> Iterator[Problem]:
    """The last one silently replaces the others. → Create the zip from scratch instead of adding to it."""
    for name in bundle.archive.replaced if bundle.archive else ():
        yield Problem(f"{name!r} is in the zip twice, with different content", file=name)


@ZIP.note("zip-odd-name", "member names that change when they are unpacked")
def _zip_odd_name(bundle: Bundle) -> Iterator[Problem]:
    """A leading / and `..` are dropped, what follows a NUL is cut off, and names not marked as UTF-8 are read in the
    DOS code page: the file is not unpacked under the name in the zip.
    → Use plain relative names in UTF-8.
    """
    odd: list[str] = []
    for member in bundle.archive.members if bundle.archive else ():
        parts = member.filename.split("/")
        changed = member.filename.startswith("/") or ".." in parts or "\0" in member.orig_filename
        unflagged = not member.flag_bits & 0x800 and not member.filename.isascii()
        if changed or unflagged or any(ord(character) < 32 for character in member.filename):
            odd.append(member.filename)
    if odd:
        yield Problem(f"names that change or are hard to refer to: {few(odd)}", file=odd[0])


@ZIP.note("zip-names-differ-in-case", "names that differ only in case")
def _zip_names_differ_in_case(bundle: Bundle) -> Iterator[Problem]:
    """They are two files on the server, but one on most people's computers. → Rename one of them."""
    counted = Counter(name.lower() for name in bundle.tree.names())
    same = [name for name, count in counted.items() if count > 1]
    if same:
        yield Problem(f"names that differ only in case: {few(same)}", file=same[0])


@ZIP.note("zip-many-members", "a very large number of files", source=UPLOAD)
def _zip_many_members(bundle: Bundle) -> Iterator[Problem]:
    """Unpacking takes long. → Put large data into a zip of its own inside the bundle."""
    count = len(bundle.archive.members) if bundle.archive else 0
    if count >= MANY_MEMBERS:
        yield Problem(f"the zip has {count:,} members")


@ZIP.note("zip-64", "a zip64 archive")
def _zip_64(bundle: Bundle) -> Iterator[Problem]:
    """It is unpacked as usual, but some older tools cannot open it. → Keep it, or use a plain zip below 4 GiB."""
    if bundle.archive and bundle.archive.zip64:
        yield Problem("the archive uses the zip64 format")


@ZIP.note("zip-link", "a symbolic link in the zip")
def _zip_link(bundle: Bundle) -> Iterator[Problem]:
    """It is unpacked as a small text file that holds the link's target. → Pack the file itself."""
    for name in bundle.archive.links if bundle.archive else ():
        yield Problem(f"{name!r} is a symbolic link", file=name)
