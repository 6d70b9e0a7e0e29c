"""Differences in what participants read: the pages, the terms and the logo."""

import difflib
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.codabench.fields import as_text
from gen_bundle.difference.changes import Difference, Effect, Named, paired
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node


def text_changes(old: Bundle, new: Bundle) -> Iterator[Difference]:
    """Pages and terms as text, line by line; the logo by its bytes."""
    for before, after in paired(_pages(old), _pages(new)):
        if before is None or after is None:
            title = (after or before)[0]
            yield Difference("pages", title, "added" if after else "removed", Effect.SHOWN)
        elif before != after:
            yield from _page_changes(*before, *after)
    if _logo(old) != _logo(new):
        yield Difference("competition", "", "logo", Effect.SHOWN)


def _pages(bundle: Bundle) -> list[Named]:
    """Title and text of every page."""
    found: list[Named] = []
    for place, page in enumerate(page_files(bundle)):
        title = "Terms" if page.at == ("terms",) else _title(bundle, page.at)
        found.append(Named((title, place), (title, bundle.text(page.path) or "")))
    return found


def _title(bundle: Bundle, at: tuple[object, ...]) -> str:
    if at[0] != "pages":
        return str(at[-1])  # an old bundle's pages are named by their keys
    return next((as_text(one.get("title")) or "" for one in bundle.entries("pages") if one.at == at[:-1]), "")


def _page_changes(old_title: str, old_text: str, title: str, text: str) -> Iterator[Difference]:
    if old_title != title:
        yield Difference("pages", title, "title", Effect.SHOWN, old_title, title)
    if old_text.splitlines() != text.splitlines():
        lines = list(difflib.unified_diff(old_text.splitlines(), text.splitlines(), lineterm="", n=0))[2:]
        changed = tuple(line for line in lines if not line.startswith("@@"))
        removed = sum(line.startswith("-") for line in changed)
        what = f"text ({removed} lines out, {len(changed) - removed} in)"
        yield Difference("pages", title, what, Effect.SHOWN, detail=changed)


def _logo(bundle: Bundle) -> str | None:
    path = bundle.yaml.get("image")
    found = bundle.tree.find(path) if isinstance(path, str) else None
    return sha256_of(found) if isinstance(found, Node) else None
