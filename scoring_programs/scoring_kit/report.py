"""The results page: one self-contained HTML file, without script, in light and dark."""

from collections.abc import Mapping, Sequence
from html import escape

from scoring_kit.program import Program
from scoring_kit.results import TaskResult

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --soft: #59636e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #3d444d; --soft: #9da7b3; } }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; } .soft { color: var(--soft); }
"""


def results_page(
    program: Program,
    scores: Mapping[str, float],
    results: Mapping[str, TaskResult],
    warnings: Sequence[str],
    signature: str,
) -> str:
    """The page as HTML: scores with their direction and worst value, warnings, signature."""
    tables = "".join(_task_table(program, task, scores, task in results) for task in program.tasks)
    remarks = "".join(f"<li>{escape(text)}</li>" for text in warnings)
    notes = f"<h2>Warnings</h2>\n<ul>{remarks}</ul>" if remarks else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Results – {escape(program.title)}</title><style>{STYLE}</style></head>
<body><main><h1>Results – {escape(program.title)}</h1>
{tables}{notes}
<h2>Signature</h2>
<p>Two scores are comparable when their signatures match.</p><p><code>{escape(signature)}</code></p>
</main></body></html>
"""


def _task_table(program: Program, task: str, scores: Mapping[str, float], entered: bool) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(column.title)}<br><span class="soft">{escape(column.meaning)}</span></th>'
        f'<td class="number">{scores[column.key]:.{max(column.precision, 0)}f}</td>'
        f"<td>{'higher' if column.sort == 'desc' else 'lower'}</td><td class='number'>{column.worst:g}</td></tr>"
        for column in program.columns
        if column.task == task and column.key in scores
    )
    name = escape(program.task_names[task]) + ("" if entered else " (not entered: worst values)")
    return (
        f'<table><caption>{name}</caption><thead><tr><th scope="col">Metric</th><th scope="col">Score</th>'
        f'<th scope="col">Better</th><th scope="col">Worst</th></tr></thead><tbody>{rows}</tbody></table>\n'
    )
