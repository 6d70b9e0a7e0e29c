"""What becomes of pages, terms and descriptions in the browser, which shows them as Markdown with formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import FRONTEND, Effect, Problem, rule
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.yaml_document import Path
from gen_bundle.zips.tree import Node

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
class ShownText:
    """A text that is rendered as Markdown: a page, the terms, or the description of a phase."""

    at: Path
    name: str
    text: str
    file: str | None = None

    def problem(self, what: str, start: int) -> Problem:
        """A problem at a position of the text; one in a file names the line."""
        if self.file is None:
            return Problem(f"{self.name} {what}", self.at)
        return Problem(f"{self.name} {what}", self.at, file=self.file, line=self.text.count("\n", 0, start) + 1)


def _shown_texts(bundle: Bundle) -> Iterator[ShownText]:
    for at, path, _, _ in page_files(bundle):
        text = bundle.text(path) if isinstance(path, str) else None
        if text:
            yield ShownText(at, path, prose(text), path)
    for phase in bundle.competition.phases:
        description = bundle.yaml["phases"][phase.at[1]].get("description")
        if isinstance(description, str):
            yield ShownText((*phase.at, "description"), f"the description of phase {phase.name}", prose(description))


@rule(
    "page-relative-link",
    Effect.TRAP,
    title="a link or picture that points to a file of the bundle",
    consequence="Files of the bundle have no address on the site: the link leads nowhere, the picture stays empty.",
    repair="Use a full web address, or put the picture into the page as a data: URI.",
    source=FRONTEND,
    reads="both",
)
def _page_relative_link(bundle: Bundle) -> Iterator[Problem]:
    for shown_text in _shown_texts(bundle):
        folder = (shown_text.file or "").rpartition("/")[0]
        for link in LINK.finditer(shown_text.text):
            target = link.group(2) or link.group(3) or ""
            if ABSOLUTE.match(target):
                continue
            file_name = target.split("#")[0].split("?")[0]
            named = (bundle.tree.find(name) for name in (file_name, f"{folder}/{file_name}") if name)
            in_bundle = any(isinstance(found, Node) for found in named)
            if in_bundle or link.group(1) or re.search(r"\.\w{1,5}$", file_name):
                yield shown_text.problem(f"links to {target!r}", link.start())


@rule(
    "page-dollars",
    Effect.TRAP,
    title="amounts in dollars that become a formula",
    consequence="Text between two dollar signs on a line is set as mathematics.",
    repair="Write USD, or escape the sign.",
    source=FRONTEND,
    reads="both",
)
def _page_dollars(bundle: Bundle) -> Iterator[Problem]:
    for shown_text in _shown_texts(bundle):
        found = MONEY.search(shown_text.text)
        if found:
            yield shown_text.problem(f"holds {shown(found.group())}, which becomes a formula", found.start())
