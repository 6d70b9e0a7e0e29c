"""Pages and terms: their files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import FRONTEND, SERIALIZERS, UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import as_integer, shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.zips.tree import Node, OnServer

PAGES = f"{UNPACKER}/v2.py (pages, terms)"
# What makes a line more than plain text, in Markdown that begins with it.
BLOCK_MARK = re.compile(r" {0,3}(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|```|~~~|\||(?:[-*_] *){3,}$)", re.MULTILINE)


@rule(
    "pages-no-list",
    Effect.REFUSED,
    Stage.PAGES,
    title="pages is missing or no list of pages",
    consequence="The upload ends with a bare error such as `'NoneType' object is not iterable` or `'file'`.",
    repair="Give `pages` as a list of `title` and `file`; an empty list is allowed.",
    source=PAGES,
)
def _pages_no_list(bundle: Bundle) -> Iterator[Problem]:
    pages = bundle.yaml.get("pages")
    if not isinstance(pages, list) and pages not in ("", b"", {}, set()):
        yield Problem(
            f"pages is {shown(pages) if 'pages' in bundle.yaml else 'missing'}, and must be a list", ("pages",)
        )
    for number, page in enumerate(pages if isinstance(pages, list) else ()):
        if not isinstance(page, Mapping):
            yield Problem(
                f"pages[{number}] is {shown(page)}, and must have a title and a file",
                ("pages", number),
                order=(number,),
            )


@rule(
    "page-without-file",
    Effect.REFUSED,
    Stage.PAGES,
    title="a page without `file`",
    consequence="The upload ends with the bare error `'file'`.",
    repair="Add `file` to the page; look for a stray dash that splits it in two.",
    source=PAGES,
)
def _page_without_file(bundle: Bundle) -> Iterator[Problem]:
    for page in bundle.entries("pages"):
        if "file" not in page.value:
            yield Problem(f"pages[{page.position}] has no `file`", page.at, order=(page.position, 0))


@rule(
    "terms-missing",
    Effect.REFUSED,
    Stage.TERMS,
    title="`terms` is missing",
    consequence="The upload ends with `A file containing the terms of this competition has not been supplied …`",
    repair="Add `terms` with the path of a file.",
    source=PAGES,
)
def _terms_missing(bundle: Bundle) -> Iterator[Problem]:
    if "terms" not in bundle.yaml:
        yield Problem("terms is missing", ("terms",), order=(0,))


@rule(
    "page-path-no-text",
    Effect.REFUSED,
    Stage.PAGES,
    title="the path of a page or of the terms is no text",
    consequence="The upload ends with `join() argument must be str, …`.",
    repair="Give a path; quote it when it looks like a number.",
    source=PAGES,
    reads="both",
)
def _page_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        if not isinstance(path, str):
            yield Problem(f"the path is {shown(path)}, and must be a text", at, stage=stage, order=order)


@rule(
    "page-not-found",
    Effect.REFUSED,
    Stage.PAGES,
    title="the file of a page or of the terms is not there",
    consequence="The upload ends with `Unable to find page: …` (old format: `Could not find file for page: …`).",
    repair="Correct the path: it is relative to the root of the zip, and case counts.",
    source=PAGES,
    reads="both",
)
def _page_not_found(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        if isinstance(path, str) and bundle.tree.find(path) is None and not bundle.tree.open_error(path):
            near = bundle.tree.nearest(path)
            hint = f"; there is {near!r}" if near else ""
            yield Problem(f"there is no file {path!r}{hint}", at, stage=stage, order=order)


@rule(
    "page-not-openable",
    Effect.REFUSED,
    Stage.PAGES,
    title="the path of a page or of the terms is a folder, or no path at all",
    consequence="The upload ends with `Is a directory`, `File name too long` or the like.",
    repair="Give the path of a file; the text itself belongs into that file.",
    source=PAGES,
    reads="both",
)
def _page_not_openable(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        error = bundle.tree.open_error(path) if isinstance(path, str) else None
        if error:
            yield Problem(f"the path {shown(path)} {error}", at, stage=stage, order=order)


@rule(
    "page-empty",
    Effect.REFUSED,
    Stage.PAGES,
    title="the file of a page or of the terms is empty",
    consequence="The upload ends with `… is empty, it must contain content.`",
    repair="Write the page, or take it out of the list.",
    source=PAGES,
)
def _page_empty(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        found = bundle.tree.find(path) if isinstance(path, str) else None
        if isinstance(found, Node) and not found.is_folder and not found.size:
            yield Problem(f"{path} is empty", at, stage=stage, order=order)


@rule(
    "page-not-utf8",
    Effect.REFUSED,
    Stage.PAGES,
    title="a page or the terms are no UTF-8 text",
    consequence="The upload ends with `'utf-8' codec can't decode byte …`.",
    repair="Save the file as UTF-8.",
    source=PAGES,
    reads="both",
)
def _page_not_utf8(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        found = bundle.tree.find(path) if isinstance(path, str) else None
        if isinstance(found, Node) and found.open is not None and bundle.text(path) is None:
            yield Problem(f"{path} is no UTF-8 text", at, stage=stage, order=order)


@rule(
    "page-nul-character",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a page or the terms hold a NUL character",
    consequence="The upload ends with `pages: content: Null characters are not allowed.`",
    repair="Take it out; the file may be UTF-16, or no text at all.",
    source=SERIALIZERS,
    reads="both",
)
def _page_nul_character(bundle: Bundle) -> Iterator[Problem]:
    for at, path, stage, order in page_files(bundle):
        if isinstance(path, str) and "\0" in (bundle.text(path) or ""):
            place = (6,) if stage is Stage.TERMS else (3, order[0], 1)
            yield Problem(f"{path} holds a NUL character", at, order=place)


@rule(
    "page-blank",
    Effect.TRAP,
    title="a page or the terms hold nothing but blanks",
    consequence="Participants see an empty page, and agree to empty terms.",
    repair="Write the page.",
    source=PAGES,
    reads="both",
)
def _page_blank(bundle: Bundle) -> Iterator[Problem]:
    for at, path, _, _ in page_files(bundle):
        text = bundle.text(path) if isinstance(path, str) else None
        if text is not None and (text or bundle.format != "v2") and not text.strip("\ufeff \t\r\n\f\v\xa0"):
            yield Problem(f"{path} holds only blanks", at)


@rule(
    "page-of-the-server",
    Effect.BROKEN,
    title="the path of a page leads out of the bundle",
    consequence="The server's own file is shown as the page.",
    repair="Give a path inside the bundle.",
    source=PAGES,
    reads="both",
)
def _page_of_the_server(bundle: Bundle) -> Iterator[Problem]:
    for at, path, _, _ in page_files(bundle):
        found = bundle.tree.find(path) if isinstance(path, str) else None
        if isinstance(found, OnServer) and not found.is_folder:
            yield Problem(f"{path} lies outside the bundle", at)


@rule(
    "page-byte-order-mark",
    Effect.TRAP,
    title="a byte order mark before a page's first heading, list or quotation",
    consequence="The invisible mark is stored with the page, and Markdown takes the line behind it for plain text: a "
    "heading is shown as `# …`.",
    repair="Save the file as UTF-8 without a byte order mark.",
    source=f"{PAGES}; {FRONTEND}",
    reads="both",
)
def _page_byte_order_mark(bundle: Bundle) -> Iterator[Problem]:
    for at, path, _, _ in page_files(bundle):
        start = (bundle.text(path, 100) or "") if isinstance(path, str) else ""
        if start.startswith("\ufeff") and BLOCK_MARK.match(start[1:]):
            yield Problem(f"{path} starts with a byte order mark", at, file=path, line=1, column=1)


@rule(
    "page-index-ignored",
    Effect.TRAP,
    title="pages with indexes that are not in the order of the list",
    consequence="A page's `index` is not read: pages are shown in the order of the list.",
    repair="Put the pages in the order in which they are to be shown.",
    source=PAGES,
)
def _page_index_ignored(bundle: Bundle) -> Iterator[Problem]:
    indexes = [as_integer(page.get("index")) for page in bundle.entries("pages") if "index" in page.value]
    numbers = [index for index in indexes if index is not None]
    if numbers != sorted(numbers):
        yield Problem(f"the pages have the indexes {', '.join(map(str, numbers))} in this order", ("pages",))
