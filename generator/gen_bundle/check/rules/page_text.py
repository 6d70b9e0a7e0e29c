"""What becomes of pages, terms and descriptions in the browser, which shows them as Markdown with formulas."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import FRONTEND, Problem, Topic
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.yaml_document import Path
from gen_bundle.zips.tree import Node

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


@dataclass(frozen=True)
class RenderedText:
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


@TEXT.trap("page-relative-link", "a link or picture that points to a file of the bundle")
def _page_relative_link(bundle: Bundle) -> Iterator[Problem]:
    """Files of the bundle have no address on the site: links and pictures are broken.
    → Use a full web address, or put the picture into the page as a data: URI.
    """
    for rendered in _rendered_texts(bundle):
        folder = (rendered.file or "").rpartition("/")[0]
        for link in LINK.finditer(rendered.text):
            target = link.group(2) or link.group(3) or ""
            if ABSOLUTE.match(target):
                continue
            file_name = target.split("#")[0].split("?")[0]
            named = (bundle.tree.find(name) for name in (file_name, f"{folder}/{file_name}") if name)
            in_bundle = any(isinstance(found, Node) for found in named)
            if in_bundle or link.group(1) or re.search(r"\.\w{1,5}$", file_name):
                yield rendered.problem(f"links to {target!r}", link.start())


@TEXT.trap("page-dollars", "amounts in dollars that become a formula")
def _page_dollars(bundle: Bundle) -> Iterator[Problem]:
    """Text between two dollar signs on a line is set as mathematics. → Write USD, or escape the sign."""
    for rendered in _rendered_texts(bundle):
        found = MONEY.search(rendered.text)
        if found:
            yield rendered.problem(f"contains {shown(found.group())}, which becomes a formula", found.start())
