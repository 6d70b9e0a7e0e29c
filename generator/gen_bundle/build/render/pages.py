"""Pages and terms: Jinja2 over Markdown, strict about names that do not exist."""

import math
import posixpath
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from functools import wraps
from pathlib import Path
from typing import Any

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateRuntimeError,
    TemplateSyntaxError,
    UndefinedError,
    nodes,
)
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gen_bundle.build.package.phase_data import PhaseData
from gen_bundle.build.package.power import power_text
from gen_bundle.build.package.programs import entry_seconds
from gen_bundle.build.package.resolve import Resolved, ids
from gen_bundle.build.render import page_tables, submission_text
from gen_bundle.declaration.model import CompetitionSettings, DeclaredPhase
from gen_bundle.declaration.scoring.settle import DECLARED
from gen_bundle.declaration.source import nearest
from gen_bundle.ground.errors import raise_all

# Rounds of all loops and calls of functions in one page: a page about a competition needs some hundreds.
MOST_STEPS = 100_000
MOST_CHARACTERS = 4_000_000
MOST_BITS = 10_000
MOST_WEIGHT = 100_000_000
WIDE_PLACE = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{5,})")
WIDE_FIELD = re.compile(r"\{[^{}]*(?:\{|:[^{}]*\d{5,})")
"""Widths in a format's text that no page needs, or that are given beside it."""
GROWS = f"the page grows beyond {MOST_CHARACTERS:,} characters"
TOO_LARGE = "the result of {} is too large for a page"


class _Missing(StrictUndefined):
    """A name that does not exist; of a mapping's keys the nearest one is named."""

    @property
    def _undefined_message(self) -> str:
        if isinstance(self._undefined_obj, Mapping):
            return f"no {self._undefined_name!r} there. {nearest(str(self._undefined_name), [*self._undefined_obj])}"
        return super()._undefined_message


class PageSandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, in which a page also comes to an end.

    Every round of a loop and every call is counted, and what operators, filters and calls make is kept small, as is the
    page itself: a foreign competition that goes on for ever ends with an error.
    """

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, folder: Path) -> None:
        super().__init__(
            loader=_OwnFolder(folder),
            undefined=_Missing,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # Markdown: Codabench passes raw HTML through, and the declaration is the organiser's own
            finalize=self._shown,
        )
        self.code_generator_class = _Counted
        self.globals.pop("lipsum")  # texts of any length, which no page needs
        self.filters = {name: self._bounded(function) for name, function in self.filters.items()}
        self._steps = self._characters = 0

    def page(self, template: str, context: Mapping[str, Any]) -> str:
        """Return a template's text.

        Raises:
            TemplateError: what is wrong with it; anything else that its expressions raise passes through.
        """
        self._steps = self._characters = 0
        parts: list[str] = []
        length = 0
        for part in self.get_template(template).generate(context):
            length += len(part)
            if length > MOST_CHARACTERS:
                raise TemplateRuntimeError(GROWS)
            parts.append(part)
        return "".join(parts)

    def call(self, context: Context, function: Any, *given: Any, **named: Any) -> Any:
        """Call what a template calls; of the methods of texts the result is bounded like that of a filter."""
        self._step()
        owner = getattr(function, "__self__", None)
        if isinstance(owner, str | bytes):
            _refuse_huge(function.__name__, [owner, *given, *named.values()])
        return self.kept(super().call(context, function, *given, **named))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Of the two methods that format, Jinja2's safe ones, with no width that a page does not need."""
        safe = super().wrap_str_format(value)
        if safe is not None and WIDE_FIELD.search(value.__self__):
            raise TemplateRuntimeError(TOO_LARGE.format("format"))
        return safe

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return a sum, product, power or remainder, of numbers and texts of a size that a page may need."""
        is_text, are_numbers = isinstance(left, str), isinstance(left, int) and isinstance(right, int)
        if operator == "*" and not are_numbers:
            _refuse_huge(operator, [left, right], MOST_CHARACTERS)
        is_wide = operator == "%" and is_text and WIDE_PLACE.search(left)
        if is_wide or (operator == "**" and are_numbers and left.bit_length() * right > MOST_BITS):
            raise TemplateRuntimeError(TOO_LARGE.format(operator))
        return self.kept(super().call_binop(context, operator, left, right))

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items of a loop, or those that a filter makes one by one: each is a step."""
        for item in items:
            self._step()
            yield self._shown(item)

    def kept(self, result: Any) -> Any:
        """Return what a filter, a call, an operator or a concatenation has made."""
        is_long = isinstance(result, Sized) and len(result) > MOST_CHARACTERS
        if is_long or (isinstance(result, int) and result.bit_length() > MOST_BITS):
            raise TemplateRuntimeError(GROWS)
        if isinstance(result, Iterator):
            return self.counted(result)
        return result

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TemplateRuntimeError(f"the page takes more than {MOST_STEPS:,} rounds of loops and calls")

    def _shown(self, value: Any) -> Any:
        """Count what comes out of expressions and loops, also where a block keeps it."""
        self._characters += _length(value)
        if self._characters > 10 * MOST_CHARACTERS:
            raise TemplateRuntimeError(GROWS)
        return value

    def _bounded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that makes nothing large."""
        name = function.__name__.removeprefix("do_").removeprefix("sync_do_")

        @wraps(function)
        def bounded(*given: Any, **named: Any) -> Any:
            self._step()
            data = [one for one in given if not isinstance(one, Context | Environment | nodes.EvalContext)]
            if name != "format":
                if isinstance(data[0], int):
                    data[0] = 1
                _refuse_huge(name, [*data, *named.values()])
            elif WIDE_PLACE.search(str(data[0])):
                raise TemplateRuntimeError(TOO_LARGE.format(name))
            return self.kept(function(*given, **named))

        return bounded


def _refuse_huge(name: str, data: Iterable[Any], most: int = MOST_WEIGHT) -> None:
    """Nothing that a filter or a method makes is larger than the product of what it is given."""
    if math.prod(map(_weight, data)) > most:
        raise TemplateRuntimeError(TOO_LARGE.format(name))


def _weight(value: Any) -> int:
    if isinstance(value, int):
        return max(1, abs(value))
    if isinstance(value, list | tuple):
        return max(1, sum(map(_length, value)))
    return _length(value)


def _length(value: Any) -> int:
    """The characters of a text; of anything else 1."""
    return max(1, len(value)) if isinstance(value, str) else 1


class _Counted(CodeGenerator):
    """Compiles `for` so that each round is counted, and `~` so that its text is bounded."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        count = nodes.EnvironmentAttribute(PageSandbox.counted.__name__)
        node.iter = nodes.Call(count, [node.iter], [], None, None, lineno=node.lineno)
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        self.write(f"environment.{PageSandbox.kept.__name__}(")
        super().visit_Concat(node, frame)
        self.write(")")


class _OwnFolder(FileSystemLoader):
    """Finds templates in a folder, and through no link that leads out of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._home = folder.resolve()

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text.

        Raises:
            TemplateNotFound: there is none in the folder.
        """
        text, file, is_current = super().get_source(environment, template)
        if not Path(file).resolve().is_relative_to(self._home):
            raise TemplateNotFound(template, f"{template} lies outside the competition's folder")
        return text, file, is_current


TERMS = "terms.md"
TEMPLATES = Path(__file__).resolve().parent / "templates" / "starting_kit"
ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - Markdown, of the organisers' own words
)
"""The tool's own templates, where pages of the organisers have a sandbox."""


def page_name(declaration: CompetitionSettings, file: str) -> str:
    """Return the name of a page in the bundle: `pages/overview.md.j2` → `pages/overview.md`; raw, its own."""
    if declaration.raw:
        return posixpath.normpath(file)
    return "pages/" + Path(file).name.removesuffix(".j2")


def terms_name(declaration: CompetitionSettings) -> str:
    """Return the name of the terms in the bundle."""
    return posixpath.normpath(declaration.terms) if declaration.raw else TERMS


def render_pages(competition: Resolved, phases: Sequence[PhaseData] = ()) -> dict[str, bytes]:
    """The rendered pages and terms by their name in the bundle, over the data of `phases`; raises as `rendered`."""
    return rendered(competition.folder, competition.declaration, _context(competition, phases))


def rendered(folder: Path, declaration: CompetitionSettings, context: Mapping[str, Any]) -> dict[str, bytes]:
    """Pages and terms by their name in the bundle: templates over what `context` holds, or as they are.

    Raises:
        UserError: what is wrong with the templates: file, line, reason; all of them.
    """
    sandbox = PageSandbox(folder)
    files = sorted({page.file for page in declaration.pages})
    names = {page_name(declaration, file): file for file in files}
    names[terms_name(declaration)] = declaration.terms
    pages: dict[str, bytes] = {}
    problems = []
    for file in files:
        if file not in names.values():
            what = "another page's file has the same name. Expected a name for each page of its own."
            problems.append(f"{file}: {what}")
    for name, template in names.items():
        if declaration.raw:
            pages[name] = (folder / template).read_bytes()
            continue
        try:
            text = sandbox.page(template, context)
        except Exception as error:  # a template is the organiser's code: it may divide by zero
            problems.append(_problem(template, error, [*context]))
            continue
        if not text.strip():
            problems.append(f"{template}: is empty. Codabench refuses a page without content.")
        pages[name] = (text.rstrip() + "\n").encode()
    raise_all(problems)
    return pages


def _problem(template: str, error: Exception, names: list[str]) -> str:
    """Return what is wrong with a template: file, line, reason; `names` are those that pages can use."""
    place, what, expected = template, str(error), "a template that can be rendered"
    if isinstance(error, TemplateSyntaxError):
        place = f"{template}:{error.lineno}"
        expected = "each {{ closed by }}, each {% by %}, if by endif, for by endfor"
    elif line := _template_line(error, template):
        place = f"{template}:{line}"
    if isinstance(error, UnicodeError):
        return f"{place}: holds bytes that are not UTF-8. Expected UTF-8 text."
    if isinstance(error, TemplateError):
        what = error.message or ""
    what = (what or type(error).__name__).rstrip(".")
    if isinstance(error, UndefinedError):
        unknown = re.fullmatch("'(.+)' is undefined", what)
        advice = f" {nearest(unknown[1], names)}" if unknown else ""
        return f"{place}: {what}.{advice}".replace("?.", "?")
    return f"{place}: {what}. Expected {expected} (see docs/pages.md), or `raw: true`."


def _template_line(error: Exception, template: str) -> int | None:
    """The line of the template that was being rendered: the innermost frame that lies in it."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.endswith(template):
            found = line
    return found


def _context(competition: Resolved, phases: Sequence[PhaseData]) -> dict[str, Any]:
    """Return what templates may use: plain values alone, since a method of an object may do anything."""
    declaration = competition.declaration
    primary = competition.tasks[0].columns[0].key

    def metrics_table(task_id: str | None = None) -> str:
        if task_id not in (None, *competition.all_task_ids):
            raise TemplateRuntimeError(f"metrics_table: no task {task_id!r}")
        table = page_tables.metrics_table([task for task in competition.tasks if task_id in (None, task.id)], primary)
        if task_id is None and len(competition.parts) > 1:
            return f"{table}\n\n{page_tables.tasks_table(competition.tasks)}"
        return table

    answered = submission_text.tables_of(declaration.submission, phases)

    def format_example() -> str:
        if declaration.scoring_program != DECLARED:
            raise TemplateRuntimeError("format_example: works only with scoring_program: declared")
        return submission_text.example_text(answered)

    def code_text_of_pages() -> str:
        if not competition.takes_code:
            raise TemplateRuntimeError("code_text: participants hand in no code here (submission.kind)")
        return code_text(competition, competition.phases)

    declared = declaration.model_dump()
    tasks = [task for task in declared["tasks"] if task["id"] in competition.task_ids]
    here = ids(competition.phases)
    return {
        "competition": {**declared, "options": competition.public_options},
        "name": competition.name,
        "phases": [phase for phase in declared["phases"] if phase["id"] in here],
        "milestones": declared["milestones"],
        "tasks": tasks,
        "task_ids": competition.task_ids,
        "options": competition.public_options,
        "primary": tasks[0]["columns"][0],
        "synthetic": bool(competition.synthetic_phases),
        "metrics_table": metrics_table,
        "phases_table": lambda: page_tables.phases_table(
            competition.phases, declaration.time_zones, declaration.milestones
        ),
        "limits_table": lambda: page_tables.limits_table(competition.phases, competition.tasks),
        "details_table": lambda: page_tables.details_table(competition.phases, declaration.details_min_items),
        "code_text": code_text_of_pages,
        "format_table": lambda: submission_text.format_text(answered),
        "format_example": format_example,
        "power": _Late(lambda: power_text(competition, [(data.phase, data.gold.whole) for data in phases])),
        "task_text": lambda: submission_text.task_text(answered),
        "rows_text": lambda: submission_text.rows_text(answered),
        "data_table": lambda: submission_text.data_table(phases),
        "baselines_text": lambda: submission_text.baselines_text(phases),
    }


class _Late:
    """A text that is made only where a page shows it, because that takes long."""

    def __init__(self, made: Callable[[], str]) -> None:
        self._made = made

    def __str__(self) -> str:
        return self._made()


def code_text(competition: Resolved, phases: Sequence[DeclaredPhase]) -> str:
    """Return what the code must offer, where it runs and what it may use; Markdown without headings."""
    rows = [[one.name, f"{entry_seconds(competition, one)} s"] for one in phases]
    seconds = page_tables.markdown_table(["Phase", "Time for the code"], rows)
    declaration = competition.declaration
    template = ENVIRONMENT.get_template("code.md.j2")
    return template.render(submission=declaration.submission, image=declaration.image, seconds=seconds)
