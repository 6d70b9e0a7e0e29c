"""Bundles for the rules on the zip and on competition.yaml as YAML."""

import io
import zipfile
from typing import Any

import yaml

from tests.generator.check.drafts import (
    NEW,
    NEW_FILES,
    Case,
    both,
    drop,
    packed,
    put,
    raw,
    replace,
    text,
)

SOUND = {"competition.yaml": yaml.safe_dump(NEW, sort_keys=False).encode(), **NEW_FILES}


def member(name: str, data: bytes, *, link: bool = False, flag: int = 0, **fields: Any) -> bytes:
    """The sound bundle with one more member."""
    out = io.BytesIO(packed(SOUND))
    with zipfile.ZipFile(out, "a") as archive:
        info = zipfile.ZipInfo(name)
        if link:
            info.external_attr = 0o120777 << 16
        for key, value in fields.items():
            setattr(info, key, value)
        archive.writestr(info, data)
    return out.getvalue()


def damaged() -> bytes:
    """The sound bundle with a byte of its overview changed, so that its checksum fails."""
    data = bytearray(packed(SOUND))
    place = data.index(b"# Overview")
    data[place] ^= 0xFF
    return bytes(data)


def claiming(size: int) -> bytes:
    """The sound bundle with a member that says it is so large once inflated."""
    data = bytearray(member("zeros", b"0" * 1000))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = size.to_bytes(4, "little")
    return bytes(data)


def twice(second: bytes) -> bytes:
    """The sound bundle with its overview twice."""
    # zipfile warns of a repeated name, so the second one is added under a name as long and renamed
    return member("overview.mx", second).replace(b"overview.mx", b"overview.md")


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)

CASES = {
    "zip-unreadable": Case(raw(b"no zip at all"), raw(b"leading bytes" + packed(SOUND))),
    "zip-member-unreadable": Case(raw(damaged()), raw(packed(SOUND, compression=zipfile.ZIP_BZIP2))),
    "zip-bomb": Case(
        raw(claiming(2049 << 20)), raw(member("zeros", bytes(1 << 20), compress_type=zipfile.ZIP_DEFLATED))
    ),
    "yaml-not-at-root": Case(
        raw(packed({f"bundle/{name}": data for name, data in SOUND.items()})),
        raw(packed({f"./{name}": data for name, data in SOUND.items()})),
    ),
    "zip-member-replaced": Case(raw(twice(b"# Another\nWelcome.\n")), raw(twice(b"# Overview\nWelcome.\n"))),
    "link-used": Case(
        raw(member("ref/more.txt", b"truth.txt", link=True)), raw(member("link", b"overview.md", link=True))
    ),
    "zip-link": Case(raw(member("link", b"overview.md", link=True)), raw(member("link", b"overview.md"))),
    "zip-odd-name": Case(raw(member("../../evil.txt", b"x")), raw(member("a..b/données.txt", b"x"))),
    "yaml-unreadable": Case(replace("A small task", "A small: task"), replace("A small task", "A small:task")),
    "yaml-no-mapping": Case(text("# only a comment\n")),
    "version-unknown": Case(put("version", 2.0), put("version", "2")),
    "version-missing": Case(drop("version"), put("version", "2")),
    "yaml-bomb": Case(
        both(text(LAUGHS + yaml.safe_dump(NEW) + "fact_sheet: *h\n")), text(LAUGHS + yaml.safe_dump(NEW))
    ),
    "yaml-key-repeated": Case(
        replace("title: A small task", "title: A small task\ntitle: Another"),
        replace("title: A small task", "title: A small task\nreward: x"),
    ),
    "yaml-hash-cuts-text": Case(
        replace("title: A small task", "title: Task #1 of the lab"),
        replace("title: A small task", "title: Task # the first one"),
    ),
    "placeholder-left": Case(put("title", "{{ title }}"), put("title", "El método {todo}")),
}
