"""Pages, terms and the logo: their files, and what becomes of them in the browser."""

import io
import re
import struct
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gen_bundle.check.bundle import Bundle, PageFile, page_files
from gen_bundle.check.registry import FRONTEND, HOUSE, MODELS, SERIALIZERS, UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import PATH_NOT_TEXT, list_faults
from gen_bundle.codabench.reading import as_integer
from gen_bundle.codabench.settings import Stage, shown
from gen_bundle.ground.yaml_document import Path
from gen_bundle.ground.zips.tree import Node, OnServer

READING = f"{UNPACKER}/v2.py (pages, terms)"
PAGES = Topic("Pages and terms", READING, reads="both", stage=Stage.PAGES)
NEW_PAGES = Topic(PAGES.title, READING, stage=Stage.PAGES)
# What makes a line that begins with it more than plain text in Markdown.
BLOCK_MARK = re.compile(r" {0,3}(?:#{1,6}\s|[-*+]\s|\d{1,9}[.)]\s|>|```|~~~|\||(?:[-*_] *){3,}$)", re.MULTILINE)


@NEW_PAGES.refused("`pages` is missing or not a list of pages")
def _pages_no_list(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with a bare error such as `'NoneType' object is not iterable` or `'file'`.
    → Give `pages` as a list of mappings with `title` and `file`; an empty list is allowed.
    """
    return list_faults(bundle.yaml, ("pages",), accepted=lambda value: value in ("", b"", {}, set()))


@NEW_PAGES.refused("a page without `file`")
def _page_without_file(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unpacking the bundle failed. A required key or referenced index ('file') was not found in
    the YAML. …` (1.25: `'file'`).
    → Add `file`; a stray dash may have split the page in two.
    """
    for page in bundle.entries("pages"):
        if "file" not in page.value:
            yield Problem(f"pages[{page.position}] has no `file`", page.at, order=(page.position, 0))


@NEW_PAGES.refused("`terms` is missing", stage=Stage.TERMS)
def _terms_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `A file containing the terms of this competition has not been supplied …`
    → Add `terms` with the path of a file.
    """
    if "terms" not in bundle.yaml:
        yield Problem("terms is missing", ("terms",), order=(0,))


def _of(page: PageFile, what: str) -> Problem:
    return Problem(what, page.at, stage=page.stage, order=page.order)


@PAGES.refused(
    "the path of a page or of the terms is not a text",
    f"{PATH_NOT_TEXT} → Give a path; quote it if it looks like a number.",
)
def _page_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    for page in page_files(bundle):
        if not isinstance(page.path, str):
            yield _of(page, f"the path is {shown(page.path)}, and must be a text")


@PAGES.refused("the file of a page or of the terms does not exist")
def _page_not_found(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unable to find page: …` (old format: `Could not find file for page: …`).
    → Correct the path: it is relative to the root of the zip, and case matters.
    """
    for page in page_files(bundle):
        if isinstance(page.path, str) and page.found is None and not bundle.tree.open_error(page.path):
            yield _of(page, f"there is no file {page.path!r}{bundle.hint(page.path)}")


@PAGES.refused("the path of a page or of the terms is a folder or not a possible path")
def _page_not_openable(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Is a directory`, `File name too long` or the like.
    → Give the path of a file; the text itself belongs in that file.
    """
    for page in page_files(bundle):
        if isinstance(page.path, str) and (error := bundle.tree.open_error(page.path)):
            yield _of(page, f"the path {shown(page.path)} {error}")


@NEW_PAGES.refused("the file of a page or of the terms is empty")
def _page_empty(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `… is empty, it must contain content.` → Write the page, or remove it from the list."""
    for page in page_files(bundle):
        if isinstance(page.found, Node) and not page.found.is_folder and not page.found.size:
            yield _of(page, f"{page.path} is empty")


@PAGES.refused("a page or the terms are not UTF-8 text")
def _page_not_utf8(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `'utf-8' codec can't decode byte …`. → Save the file as UTF-8."""
    for page in page_files(bundle):
        if isinstance(page.found, Node) and page.found.open is not None and bundle.text(page.path) is None:
            yield _of(page, f"{page.path} is not UTF-8 text")


@PAGES.refused("a page or the terms contain a NUL character", source=SERIALIZERS, stage=Stage.SAVE_COMPETITION)
def _page_nul_character(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `pages: content: Null characters are not allowed.`
    → Remove it; the file may be UTF-16, or not text at all.
    """
    for page in page_files(bundle):
        if "\0" in (bundle.text(page.path) or ""):
            place = (6,) if page.stage is Stage.TERMS else (3, page.order[0], 1)
            yield Problem(f"{page.path} contains a NUL character", page.at, order=place)


COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# With marks before it or under it, or in HTML.
HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$|^.+\n {0,3}(?:=+|-+)[ \t]*$|<h([1-6])\b[\s\S]*?</h\1>", re.MULTILINE)
BLANKS = "\ufeff \t\r\n\f\v\xa0"


@PAGES.trap("a page or the terms show nothing")
def _page_blank(bundle: Bundle) -> Iterator[Problem]:
    """Participants see an empty page, or agree to empty terms. → Write the page; nobody sees what is in a comment."""
    for page in page_files(bundle):
        text = bundle.text(page.path)
        is_blank = text is not None and not COMMENT.sub("", text).strip(BLANKS)
        if is_blank and (text or bundle.format != "v2"):
            yield _of(page, f"{page.path} shows nothing: it holds only blanks or comments")


@PAGES.note("a page or the terms show a heading alone", source=HOUSE)
def _page_heading_alone(bundle: Bundle) -> Iterator[Problem]:
    """Participants see a page without content. → Write the page; nobody sees what is in a comment."""
    for page in page_files(bundle):
        shown_text = COMMENT.sub("", bundle.text(page.path) or "").strip(BLANKS)
        if shown_text and not HEADING.sub("", shown_text).strip(BLANKS):
            yield _of(page, f"{page.path} shows a heading alone")


@PAGES.broken("the path of a page leads out of the bundle")
def _page_of_the_server(bundle: Bundle) -> Iterator[Problem]:
    """The server's own file is shown as the page. → Give a path inside the bundle."""
    for page in page_files(bundle):
        if isinstance(page.found, OnServer) and not page.found.is_folder:
            yield _of(page, f"{page.path} lies outside the bundle")


@PAGES.trap("a byte order mark before a page's first heading, list or quotation", source=f"{READING}; {FRONTEND}")
def _page_byte_order_mark(bundle: Bundle) -> Iterator[Problem]:
    """The invisible mark is stored with the page, and Markdown takes the line behind it for plain text: a heading is
    shown as `# …`.
    → Save the file as UTF-8 without a byte order mark.
    """
    for page in page_files(bundle):
        start = bundle.text(page.path, 100) or ""
        if start.startswith("\ufeff") and BLOCK_MARK.match(start[1:]):
            yield Problem(f"{page.path} starts with a byte order mark", page.at, file=page.path, line=1, column=1)


@NEW_PAGES.trap("pages whose indexes are not in the order of the list")
def _page_index_ignored(bundle: Bundle) -> Iterator[Problem]:
    """Indexes are not read: pages are shown in the order of the list. → List them in the wanted order."""
    pages = bundle.entries("pages")
    numbers = [index for page in pages if (index := as_integer(page.get("index"))) is not None]
    if numbers != sorted(numbers):
        listed = ", ".join([str(number) for number in numbers])
        yield Problem(f"the pages have the indexes {listed} in this order", ("pages",))


TEXT = Topic("Text as the browser shows it", FRONTEND, reads="both")
# What is not rendered: code, comments, and escaped characters.
NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|<(?:pre|code|script|style)\b.*?</|<!--.*?-->|\\\$", re.DOTALL
)
LINK = re.compile(r"(!?)\[[^\]\n]*\]\(\s*<?([^)\s>]+)|\b(?:src|href)\s*=\s*[\"']([^\"']+)")
MONEY = re.compile(r"\$\s?\d[\d.,]*[^$\n]{1,200}\$\s?\d")
ABSOLUTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|/|\{")


def prose(text: str) -> str:
    """The text with what is not rendered blanked out, line ends kept."""
    return NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


class RenderedText(NamedTuple):
    """A text that is rendered as Markdown: a page, the terms, or the description of a phase."""

    at: Path
    name: str
    text: str
    file: str | None = None

    def problem(self, what: str, start: int) -> Problem:
        """A problem at a position of the text; one in a file has a line."""
        if self.file is None:
            return Problem(f"{self.name} {what}", self.at)
        return Problem(f"{self.name} {what}", self.at, file=self.file, line=self.text.count("\n", 0, start) + 1)


def _rendered_texts(bundle: Bundle) -> Iterator[RenderedText]:
    for page in page_files(bundle):
        text = bundle.text(page.path)
        if text:
            yield RenderedText(page.at, page.path, prose(text), page.path)
    for phase in bundle.competition.phases:
        description = bundle.value((*phase.at, "description"))
        if isinstance(description, str):
            name = f"the description of phase {phase.name}"
            yield RenderedText((*phase.at, "description"), name, prose(description))


@TEXT.trap("a link or picture that points to a file of the bundle")
def _page_relative_link(bundle: Bundle) -> Iterator[Problem]:
    """Files of the bundle have no address on the site: links and pictures are broken.
    → Use a full web address, or put the picture into the page as a data: URI.
    Example: not `<img src="data.png">`, but `<img src="https://example.org/data.png">`.
    """
    for rendered in _rendered_texts(bundle):
        folder = (rendered.file or "").rpartition("/")[0]
        for link in LINK.finditer(rendered.text):
            target = link[2] or link[3]
            if ABSOLUTE.match(target):
                continue
            file_name = target.split("#")[0].split("?")[0]
            names = (file_name, f"{folder}/{file_name}")
            in_bundle = any(name and isinstance(bundle.tree.find(name), Node) for name in names)
            if in_bundle or link[1] or re.search(r"\.\w{1,5}$", file_name):
                yield rendered.problem(f"links to {target!r}", link.start())


@TEXT.broken("a comment that never ends")
def _page_comment_open(bundle: Bundle) -> Iterator[Problem]:
    """Nothing after `<!--` is shown. → End the comment with `-->`, or remove `<!--`."""
    for rendered in _rendered_texts(bundle):
        if found := re.search(r"^ {0,3}<!--", rendered.text, re.MULTILINE):
            yield rendered.problem("has a comment that never ends", found.start())


@TEXT.trap("amounts in dollars that become a formula")
def _page_dollars(bundle: Bundle) -> Iterator[Problem]:
    """Text between two dollar signs on a line is set as mathematics. → Write USD, or escape the sign.
    Example: not `between $5 and $10`, but `between USD 5 and USD 10`.
    """
    for rendered in _rendered_texts(bundle):
        found = MONEY.search(rendered.text)
        if found:
            yield rendered.problem(f"contains {shown(found.group())}, which becomes a formula", found.start())


LOGO = Topic("The logo", f"{UNPACKER}/base_unpacker.py (image)", reads="both", stage=Stage.IMAGE)
LOGO_PLACE = (1,)
ICON_WIDTH = 100
# Modes that Pillow writes as PNG.
PNG_MODES = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
# Larger pictures are judged by their header alone, so that the check's memory stays bounded.
MAX_DECODED_PIXELS = 40_000_000
MAX_LOGO_BYTES = 64 * 1024 * 1024
# What Pillow raises for a picture that it cannot read.
UNDECODABLE = (OSError, EOFError, ValueError, SyntaxError, struct.error, ZeroDivisionError)


def logo_of(bundle: Bundle) -> tuple[str, bytes] | None:
    """Return the logo's path and content; None where there is no such file."""
    path = bundle.yaml.get("image")
    found = bundle.find(path)
    if isinstance(found, Node) and not found.is_folder:
        return str(path), found.read(MAX_LOGO_BYTES)
    return None


def format_of(data: bytes) -> str | None:
    """The format of a picture by its first bytes: png, jpg, gif or webp; None for any other (animated PNGs too)."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        is_animated = b"acTL" in data.partition(b"IDAT")[0]
        return None if is_animated else "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data.startswith(b"GIF"):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return None


@lru_cache(maxsize=1)  # the bundles of a competition have one logo
def icon_fault(data: bytes) -> str | None:
    """Why the server cannot make its 100 pixels wide icon of a picture; None when it can.

    It opens and resizes the picture without verifying it first, so that a wrong checksum of the pixels does no harm.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
        width, height = picture.size
        if int(ICON_WIDTH / width * height) < 1:
            return f"it is {width} × {height} pixels, so wide that the icon would have no height"
        if picture.mode not in PNG_MODES:
            return f"its colour mode {picture.mode} cannot be written as PNG"
        if width * height <= MAX_DECODED_PIXELS:
            picture.resize((ICON_WIDTH, int(ICON_WIDTH / width * height))).save(io.BytesIO(), format="PNG")
    except (*UNDECODABLE, Image.DecompressionBombError) as error:
        return f"it cannot be decoded ({error})".replace("<_io.BytesIO object", "<the file")
    return None


@LOGO.refused("`image` is missing")
def _image_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `An image for this competition could not be found in the yaml`.
    → Add `image` with the path of a logo.
    """
    if "image" not in bundle.yaml:
        yield Problem("image is missing", ("image",))


@LOGO.refused("the path of the logo is not a text", f"{PATH_NOT_TEXT} → Give a path.")
def _image_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    if "image" in bundle.yaml and not isinstance(bundle.yaml["image"], str):
        yield Problem(f"image is {shown(bundle.yaml['image'])}, and must be a path", ("image",))


@LOGO.refused("the logo does not exist, or is a folder")
def _image_not_found(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unable to find image: …` or `Is a directory`.
    → Correct the path: it is relative to the root of the zip, and case matters; web addresses are not fetched.
    """
    path = bundle.yaml.get("image")
    if not isinstance(path, str):
        return
    error = bundle.tree.open_error(path)
    if error:
        yield Problem(f"image {shown(path)} {error}", ("image",))
    elif isinstance(bundle.find(path), OnServer):
        yield Problem(f"image {shown(path)} leads out of the bundle, and not to a picture", ("image",))
    elif bundle.find(path) is None:
        yield Problem(f"there is no file {path!r}{bundle.hint(path)}", ("image",))


@LOGO.refused("the logo is not a PNG, JPEG, GIF or WebP", source=SERIALIZERS, stage=Stage.SAVE_COMPETITION)
def _image_kind(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `logo: Please upload a valid image.` or `logo: The type of the image couldn't be
    determined.`
    → Convert it to PNG; the file's content counts, not its extension.
    """
    logo = logo_of(bundle)
    if logo and format_of(logo[1]) is None:
        what = "is not a PNG, JPEG, GIF or WebP (animated PNGs are not accepted either)" if logo[1] else "is empty"
        yield Problem(f"{logo[0]} {what}", ("image",), order=LOGO_PLACE)


@LOGO.refused("the server cannot make its small icon of the logo", source=f"{MODELS} (logo icon)", stage=Stage.STORE)
def _image_icon(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the error of the picture library, and leaves half a competition behind.
    → Use an RGB PNG, roughly square.
    """
    logo = logo_of(bundle)
    if logo and format_of(logo[1]) is not None and (fault := icon_fault(logo[1])):
        yield Problem(f"the icon of {logo[0]} cannot be made: {fault}", ("image",), order=(0,))
