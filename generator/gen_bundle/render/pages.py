"""Pages and terms: Jinja2 over Markdown, strict about names that do not exist."""

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateRuntimeError, TemplateSyntaxError, UndefinedError

from gen_bundle.declaration.declared.settle import DECLARED
from gen_bundle.errors import UserError
from gen_bundle.package.phase_data import PhaseData
from gen_bundle.package.resolve import Resolved
from gen_bundle.package.shipped import synthetic_phases
from gen_bundle.render import submission_text, tables
from gen_bundle.render.code_text import code_text
from gen_bundle.render.sandbox import PageSandbox

TERMS = "terms.md"


def page_name(template: str) -> str:
    """The name of a rendered page in the bundle: `pages/overview.md.j2` → `pages/overview.md`."""
    return "pages/" + Path(template).name.removesuffix(".j2")


def render_pages(competition: Resolved, phases: Sequence[PhaseData] = ()) -> dict[str, bytes]:
    """The rendered pages and terms by their name in the bundle; `phases` are the data of these.

    Raises:
        UserError: what is wrong with the templates: file, line, reason; all of them.
    """
    sandbox = PageSandbox(competition.folder)
    context = _context(competition, phases)
    declaration = competition.declaration
    names = {page_name(page.file): page.file for page in declaration.pages} | {TERMS: declaration.terms}
    rendered: dict[str, bytes] = {}
    files = {page.file for page in declaration.pages}
    problems = [
        f"{file}: another page's file has the same name. Expected a name for each page of its own."
        for file in sorted(files - set(names.values()))
    ]
    for name, template in names.items():
        try:
            text = sandbox.page(template, context)
        except Exception as error:  # a template is the organiser's code: it may divide by zero
            problems.append(_problem(template, error))
            continue
        if not text.strip():
            problems.append(f"{template}: is empty. Codabench refuses a page without content.")
        rendered[name] = (text.rstrip() + "\n").encode()
    if problems:
        raise UserError(*problems)
    return rendered


def _problem(template: str, error: Exception) -> str:
    line = error.lineno if isinstance(error, TemplateSyntaxError) else _template_line(error, template)
    place = f"{template}:{line}" if line else template
    if isinstance(error, UnicodeError):
        return f"{place}: holds bytes that are not UTF-8. Expected UTF-8 text."
    what = (error.message if isinstance(error, TemplateError) else str(error)) or type(error).__name__
    expected = "a name that pages can use" if isinstance(error, UndefinedError) else "a template that can be rendered"
    return f"{place}: {what.rstrip('.')}. Expected {expected} (see docs/pages.md)."


def _template_line(error: Exception, template: str) -> int | None:
    """The line of the template that was being rendered: the innermost frame that lies in it."""
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename.endswith(template)]
    return lines[-1] if lines else None


def _context(competition: Resolved, phases: Sequence[PhaseData]) -> dict[str, Any]:
    """What templates may use: plain values alone, since a method of an object may do anything."""
    declaration = competition.declaration
    primary = competition.tasks[0].columns[0].key

    def metrics_table(task_id: str | None = None) -> str:
        if task_id not in (None, *competition.all_task_ids):
            raise TemplateRuntimeError(f"metrics_table: no task {task_id!r}")
        table = tables.metrics_table([task for task in competition.tasks if task_id in (None, task.id)], primary)
        if task_id is None and len(competition.parts) > 1:
            return f"{table}\n\n{tables.tasks_table(competition.tasks)}"
        return table

    answered = submission_text.tables_of(declaration.submission, phases)

    def format_example() -> str:
        if declaration.scoring_program != DECLARED:
            raise TemplateRuntimeError("format_example: works only with scoring_program: declared")
        return submission_text.example_text(answered)

    tasks = [task.model_dump() for task in competition.tasks]
    return {
        "competition": {**declaration.model_dump(), "options": competition.public_options},
        "name": competition.name,
        "phases": [phase.model_dump() for phase in competition.phases],
        "milestones": [milestone.model_dump() for milestone in declaration.milestones],
        "tasks": tasks,
        "task_ids": [task["id"] for task in tasks],
        "options": competition.public_options,
        "primary": tasks[0]["columns"][0],
        "synthetic": bool(synthetic_phases(competition)),
        "metrics_table": metrics_table,
        "phases_table": lambda: tables.phases_table(competition.phases, declaration.time_zones, declaration.milestones),
        "limits_table": lambda: tables.limits_table(competition.phases, competition.tasks),
        "details_table": lambda: tables.details_table(competition.phases, declaration.details_min_items),
        "code_text": lambda: _code_text(competition),
        "format_table": lambda: submission_text.format_text(answered),
        "format_example": format_example,
        "task_text": lambda: submission_text.task_text(answered),
        "rows_text": lambda: submission_text.rows_text(answered),
        "data_table": lambda: submission_text.data_table(phases),
        "baselines_text": lambda: submission_text.baselines_text(phases),
    }


def _code_text(competition: Resolved) -> str:
    if not competition.takes_code:
        raise TemplateRuntimeError("code_text: participants hand in no code here (submission.kind)")
    return code_text(competition, competition.phases)
