"""A bundle's texts and facts for participants, read as leniently as the platform's own pages would show it.

Pages are from strangers: their HTML is made safe, without anything that acts, loads or overlays.
"""

import base64
import io
import itertools
import re
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape, unescape
from pathlib import Path
from typing import Any

from gen_bundle.build.render.markdown import page_html
from gen_bundle.check.bundle import Bundle, open_readable_bundle
from gen_bundle.codabench.competition import Column, DataUse, Phase
from gen_bundle.codabench.dates import Instant, read_instant
from gen_bundle.codabench.reading import as_boolean, as_text, is_on
from gen_bundle.codabench.settings import OPTIONAL
from gen_bundle.codabench.versions import NEWEST, PlatformVersion
from gen_bundle.ground.errors import UserError
from gen_bundle.ground.zips.tree import Node

FILES_SHOWN = 40
LOGO_PIXELS = 192
MAX_LOGO_BYTES = 20_000_000
MAX_PIXELS = 40_000_000


@dataclass(frozen=True)
class Download:
    """A program or data file: who may have it, and what is in it.

    Attributes:
        role: what it is for.
        name: its path in the bundle.
        open: participants can download it.
        size: bytes; None where the path leads nowhere.
        files: names and sizes of what it holds, the first `FILES_SHOWN` of `count`.
    """

    role: str
    name: str
    open: bool
    size: int | None
    files: tuple[tuple[str, int], ...] = ()
    count: int = 0


def downloads(bundle: Bundle, phase: Phase) -> list[Download]:
    """Return what participants may fetch first, then what only organisers have."""
    competition = bundle.competition
    uses = [
        ("Starting kit", phase.files.get("starting_kit"), True),
        ("Public data", phase.files.get("public_data"), True),
    ]
    for position, use in enumerate(competition.solutions):
        if any(task.index in use.tasks for task in phase.tasks):
            entry = bundle.mapping(use.at[:-1])
            uses.append((as_text(entry.get("name")) or f"Solution {position + 1}", use, True))
    for task in phase.tasks:
        label = ""
        if len(phase.tasks) > 1:
            label = f" of {task.name}"
        programs, inputs = competition.programs_available, competition.input_available
        uses.append((f"Scoring program{label}", task.files.get("scoring_program"), programs))
        uses.append((f"Ingestion program{label}", task.files.get("ingestion_program"), programs))
        uses.append((f"Input data{label}", task.files.get("input_data"), inputs))
        uses.append((f"Reference data{label}", task.files.get("reference_data"), False))
    return [_download(bundle, role, use, is_open) for role, use, is_open in uses if use is not None]


def _download(bundle: Bundle, role: str, use: DataUse, is_open: bool) -> Download:
    found, unpacked = bundle.find(use.path), bundle.unpacked(use)
    if not isinstance(found, Node) or unpacked is None:
        return Download(role, str(use.path), is_open, None)
    files = sorted((name, node.size) for name, node in unpacked.tree.files())
    size = found.size
    if found.is_folder:
        size = sum(own for _, own in files)
    return Download(role, str(use.path), is_open, size, tuple(files[:FILES_SHOWN]), len(files))


MAX_CHARACTERS = 500_000


def _words(text: str) -> set[str]:
    return set(text.split())


_TEXT_TAGS = _words(
    "a abbr b blockquote br caption center cite code col colgroup dd del details dfn div dl dt em font figcaption "
    "figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub "
    "summary sup table tbody td tfoot th thead tr tt u ul var"
)
_MATH_TAGS = _words(
    "math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow "
    "ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics"
)
_MATH_LOOKS = _words(
    "accent accentunder columnalign columnspacing depth displaystyle fence form height linethickness lspace mathsize "
    "mathvariant maxsize minsize movablelimits notation rowspacing rspace scriptlevel separator stretchy width"
)
_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"align", "dir", "lang", "style", "title", "valign"},
    "a": {"href"},
    "col": {"span"},
    "colgroup": {"span"},
    "details": {"open"},
    "img": {"alt", "src"},
    "math": {"display", "xmlns"},
    "ol": {"start", "type"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    **dict.fromkeys(_MATH_TAGS - {"math"}, _MATH_LOOKS),
}
_STYLES = _words(
    "background-color border border-bottom border-collapse border-left border-radius border-right border-top color "
    "font-size font-style font-weight line-height list-style-type padding text-align text-decoration text-transform "
    "vertical-align white-space width"
)
_GONE = {"embed", "form", "iframe", "link", "object", "script", "style", "video", "audio"}
_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_LINK = re.compile(r"(https?:|mailto:)", re.IGNORECASE)
_IMAGE = re.compile(r"<img\b([^>]*)>")
_HEADING = re.compile(r"(</?h)([1-6])(?=[\s>])")
_SCROLLED = re.compile(r'<table\b.*?</table>|<pre\b.*?</pre>|<math\b[^>]*display="block".*?</math>', re.DOTALL)
_FORMULA_HEADING = re.compile(r"<th>(<math\b(?:(?!</th>).)*</math>)</th>", re.DOTALL)
_KINDS = {"<table": "Table", "<pre": "Code", "<math": "Formula"}


@dataclass(frozen=True)
class Content:
    """A page's text, ready to be put inside ours.

    Attributes:
        html: safe HTML.
        coloured: it sets colours of its own, chosen for the platform's white pages.
        notes: what of it is not shown here, for the organiser.
    """

    html: str
    coloured: bool = False
    notes: tuple[str, ...] = ()


def safe_content(text: str, title: str, first_heading: int = 3) -> Content:
    """Render Markdown as the platform does, and take away what could reach beyond it.

    Args:
        text: Markdown with raw HTML, not to be trusted.
        title: the page's title, which names what is scrolled for screen readers.
        first_heading: the level that a first-level heading gets, 6 at most for the deepest.
    """
    import nh3

    notes = []
    if len(text) > MAX_CHARACTERS:
        notes.append(f"Only the first {MAX_CHARACTERS:,} of {len(text):,} characters are shown here.")
    html = page_html(text[:MAX_CHARACTERS])
    cleaned = nh3.clean(
        html,
        tags=_TEXT_TAGS | _MATH_TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES,
        attribute_filter=_kept_attribute,
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )
    gone = sorted(f"<{tag}>" for tag in _GONE if re.search(rf"<{tag}\b", html, re.IGNORECASE))
    if gone:
        notes.append(f"Left out of this preview: {', '.join(gone)}.")
    coloured = re.search(r'style="[^"]*color', cleaned) is not None
    cleaned = _IMAGE.sub(_image, cleaned)
    cleaned = _HEADING.sub(lambda match: f"{match[1]}{min(int(match[2]) + first_heading - 1, 6)}", cleaned)
    cleaned = cleaned.replace("<th></th>", "<td></td>")
    cleaned = _FORMULA_HEADING.sub(_named, cleaned)
    numbers = itertools.count(1)
    cleaned = _SCROLLED.sub(lambda match: _scrolled(match[0], f"{next(numbers)} in {title}"), cleaned)
    return Content(cleaned, coloured, tuple(notes))


def _kept_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href" and not _LINK.match(value.strip()):
        return None
    if name == "src" and value.startswith("data:") and not _DATA_IMAGE.fullmatch(value):
        return None
    return value


def _image(match: re.Match[str]) -> str:
    """An image inside the text stays; one on the web is not fetched, its address is shown."""
    attributes = dict(re.findall(r'(\w+)="([^"]*)"', match[1]))
    source = attributes.get("src", "")
    if source.startswith("data:"):
        return f'<img alt="{attributes.get("alt", "")}" src="{source}">'
    if _LINK.match(unescape(source)):
        where = f"{source}, not fetched here"
    else:
        where = "an address that does not work on the platform"
    alt = attributes.get("alt") or "Image"
    return f'<span class="image">{alt} <small>({where})</small></span>'


def _named(match: re.Match[str]) -> str:
    """A heading of a formula alone is read by its letters, since much software reads no MathML."""
    letters = escape(unescape(re.sub(r"<[^>]*>", "", match[1])))
    formula = match[1].replace("<math", '<math aria-hidden="true"', 1)
    return f'<th><span class="hidden">{letters}</span>{formula}</th>'


def _scrolled(html: str, place: str) -> str:
    """Return a block that scrolls by itself where it is wider than the page, also with the keyboard."""
    if html.count("<table") > 1:  # one in another: the pattern ends at the inner one's end
        return html
    kind = next(kind for start, kind in _KINDS.items() if html.startswith(start))
    label = escape(f"{kind} {place}", quote=True)
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{html}</div>'


@dataclass(frozen=True)
class PageView:
    """A page of the competition: its title and text."""

    title: str
    content: Content


@dataclass(frozen=True)
class PhaseView:
    """A phase as participants see it; `names` are those by which a dry run may call it."""

    name: str
    names: frozenset[str]
    description: Content
    start: Instant
    end: Instant
    limits: tuple[tuple[str, str], ...]
    tasks: tuple["TaskView", ...]
    downloads: tuple[Download, ...]


@dataclass(frozen=True)
class MilestoneView:
    """A date beside the phases, which our own bundles name and the platform does not read."""

    name: str
    date: Instant


@dataclass(frozen=True)
class TaskView:
    """A task of a phase."""

    name: str
    names: frozenset[str]
    description: str


@dataclass(frozen=True)
class CompetitionView:
    """A whole competition as participants meet it.

    Attributes:
        facts: further settings, in words.
        milestones: dates beside the phases, in the order of time.
        columns: the leaderboard's visible columns in order; the primary one by `primary`.
        rule: which submissions come onto the board, in words.
        board_hidden: only organisers see the board.
        version: the platform's that is shown.
        notes: what could not be read.
    """

    title: str
    description: str
    logo: str | None
    facts: tuple[tuple[str, str], ...]
    pages: tuple[PageView, ...]
    terms: Content | None
    phases: tuple[PhaseView, ...]
    milestones: tuple[MilestoneView, ...]
    columns: tuple[Column, ...]
    primary: Column | None
    rule: str
    board_hidden: bool
    version: PlatformVersion
    notes: tuple[str, ...] = field(default=())


HIDDEN = {
    "hide_output": "all output and logs",
    "hide_prediction_output": "prediction output",
    "hide_score_output": "scoring output",
}
RULES = {
    "Add": "Participants choose one submission each for the board; it can be replaced, not removed.",
    "Add_And_Delete": "Participants choose one submission each for the board, and can remove it.",
    "Add_And_Delete_Multiple": "Participants choose any number of submissions for the board.",
    "Force_Last": "The latest submission of each participant is on the board.",
    "Force_Best": "The best submission of each participant is on the board.",
    "Force_Latest_Multiple": "Every scored submission is on the board.",
}


def read_view(path: Path, now: datetime | None = None, version: PlatformVersion = NEWEST) -> CompetitionView:
    """Read a bundle (a zip, or the folder of an unpacked one) as a version of the platform would show it.

    Raises:
        UserError: it is not a Codabench bundle of version 2.
    """
    with ExitStack() as held:
        bundle = open_readable_bundle(path, now or datetime.now(UTC), held, version)
        if bundle.version != "2":
            raise UserError(
                f"{path}: competition.yaml has version {bundle.version}, expected 2. "
                "Make a project of a CodaLab 1.5 bundle with `gen-bundle import` first, and build that."
            )
        return _view(bundle)


def _view(bundle: Bundle) -> CompetitionView:
    """The competition; what cannot be read becomes a note."""
    top, competition = bundle.yaml, bundle.competition
    notes: list[str] = []
    if not competition.phases:
        notes.append("There are no phases.")
    columns = [column for column in competition.columns if not column.hidden]
    columns.sort(key=lambda column: (column.index is None, column.index or 0))
    if not columns:
        notes.append("The leaderboard has no visible column.")
    logo = _logo(bundle, top.get("image"), notes)
    pages = []
    for entry in bundle.entries("pages"):
        title = as_text(entry.get("title")) or "(no title)"
        content = _text(bundle, entry.get("file"), title, notes)
        if content is not None:
            pages.append(PageView(title, content))
    terms = _text(bundle, top.get("terms"), "Terms", notes)
    phases = []
    for order, phase in enumerate(competition.phases):
        phases.append(_phase(bundle, order, phase))
    return CompetitionView(
        title=as_text(top.get("title")) or "(no title)",
        description=as_text(top.get("description")) or "",
        logo=logo,
        facts=tuple(_facts(bundle)),
        pages=tuple(pages),
        terms=terms,
        phases=tuple(phases),
        milestones=tuple(_milestones(bundle)),
        columns=tuple(columns),
        primary=competition.leaderboard.primary,
        rule=RULES.get(competition.submission_rule, f"The rule {competition.submission_rule} is unknown."),
        board_hidden=is_on(bundle.mapping(("leaderboards", 0)).get("hidden")),
        version=bundle.platform,
        notes=tuple(notes),
    )


def _logo(bundle: Bundle, name: Any, notes: list[str]) -> str | None:
    found = bundle.tree.find(name) if isinstance(name, str) else None
    if not isinstance(found, Node) or found.open is None:
        notes.append(f"The logo {name!r} is not in the bundle.")
        return None
    try:
        return logo_address(found.read(MAX_LOGO_BYTES + 1))
    except ValueError as error:
        notes.append(f"The logo {name!r} cannot be shown: {error}.")
        return None


def _text(bundle: Bundle, name: Any, title: str, notes: list[str]) -> Content | None:
    text = bundle.text(name)
    if text is None:
        notes.append(f"{title}: the file {name!r} is not in the bundle, or is not UTF-8 text.")
        return None
    return safe_content(text, title)


def _facts(bundle: Bundle) -> list[tuple[str, str]]:
    top, competition = bundle.yaml, bundle.competition
    at_once = as_boolean(top.get("registration_auto_approve"))
    forum = "yes"
    if not as_boolean(top.get("forum_enabled", True)):
        forum = "no"
    asked = bundle.mapping(("fact_sheet",)).items()
    titles = [as_text(one.get("title")) or str(key) for key, one in asked if isinstance(one, Mapping)]
    facts = [
        ("Registration", "at once" if at_once else "after approval"),
        *((field.name.capitalize(), field.read(top)) for field in OPTIONAL),
        ("Leaderboard", competition.board_title or "(no title)"),
        ("Docker image", competition.image or "none"),
        ("Forum", forum),
        ("Detailed results", "shown to participants" if competition.detailed_results else "off"),
        ("Asked with a submission", "; ".join(titles)),
    ]
    return [(name, text) for name, text in facts if text]


def _milestones(bundle: Bundle) -> list[MilestoneView]:
    found = []
    for entry in bundle.entries("milestones"):
        date = read_instant(entry.get("date"), bundle.now)
        found.append(MilestoneView(as_text(entry.get("name")) or "(no name)", date))
    return sorted(found, key=lambda one: one.date.moment or datetime.max.replace(tzinfo=UTC))


def _phase(bundle: Bundle, order: int, phase: Phase) -> PhaseView:
    entry = bundle.mapping(phase.at)
    tasks = []
    for task in phase.tasks:
        of_task = bundle.mapping(task.at)
        names = _names(of_task, task.at[-1]) | {task.name}
        tasks.append(TaskView(task.name, names, as_text(of_task.get("description")) or ""))
    limits = [
        ("Submissions a day", str(phase.a_day or "no limit")),
        ("Submissions in all", str(phase.in_all or "no limit")),
        ("Time to score one", f"{phase.limit_s} s"),
    ]
    hidden = [words for key, words in HIDDEN.items() if as_boolean(entry.get(key, False))]
    if hidden:
        limits.append(("Hidden from participants", ", ".join(hidden)))
    if phase.auto_migrate:
        limits.append(("At its start", "submissions of the phase before are run again"))
    return PhaseView(
        name=phase.name,
        names=_names(entry, phase.at[-1]) | {phase.name, str(order)},
        description=safe_content(as_text(entry.get("description")) or "", phase.name, first_heading=4),
        start=phase.start,
        end=phase.end,
        limits=tuple(limits),
        tasks=tuple(tasks),
        downloads=tuple(downloads(bundle, phase)),
    )


def _names(entry: Mapping[Any, Any], position: Any) -> frozenset[str]:
    """The names by which dry-run.json may call a phase or task: our id, its index, its position."""
    return frozenset(str(name) for name in (entry.get("id"), entry.get("index"), position) if name is not None)


def logo_address(content: bytes) -> str:
    """Return the logo as a small picture of our own making, so that no stranger's image file reaches the browser.

    A PNG of at most `LOGO_PIXELS` pixels a side as a `data:` address.

    Raises:
        ValueError: no PNG, JPEG, GIF or WebP that can be read, or one of enormous size.
    """
    from PIL import Image

    if len(content) > MAX_LOGO_BYTES:
        raise ValueError(f"more than {MAX_LOGO_BYTES / 1e6:g} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"])
        if image.width * image.height > MAX_PIXELS:
            raise ValueError(f"{image.width} × {image.height} pixels")
        image.thumbnail((LOGO_PIXELS, LOGO_PIXELS))
        small = io.BytesIO()
        image.convert("RGBA").save(small, "PNG")
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
