"""The report as a LaTeX document that compiles as it is, with tables to be copied into a paper."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gen_bundle.render.rankings import latex_text
from gen_bundle.report.content import Report, way_words
from gen_bundle.report.figures import Figure
from gen_bundle.report.frames import pairs_frame, results_frame
from gen_bundle.report.methods import REFERENCES, methods, missing_rule

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_PAIRS = 45
"""More pairs than those of ten teams are in pairwise.csv alone."""
KNOWN = set("–—‘’“”…ŁłŃńŐőŘřŚśŠšŤťŮůŰűŹźŻżŽžĄąĆćČčĎďĘęĚěĞğİıŇňŞşŢţŸŒœ") | {
    chr(code) for code in range(0xC0, 0x100) if code not in (0xD7, 0xF7)
}
"""Characters beyond ASCII that every LaTeX sets with the T1 encoding."""


def latex_document(report: Report, figures: Mapping[str, Mapping[str, Figure]]) -> str:
    """The whole document; needs booktabs, longtable and graphicx, and the figures beside it."""
    body = "\n".join(_body(report, figures))
    return "\n".join(
        [
            r"\documentclass[a4paper]{article}",
            r"\usepackage[T1]{fontenc}",
            r"\usepackage{booktabs,longtable,graphicx}",
            *_declared(body),
            rf"\title{{{latex_text(report.declaration.title)}: final report}}",
            r"\author{}",
            r"\date{}",
            r"\begin{document}",
            r"\maketitle",
            r"\sloppy",
            body,
            r"\end{document}",
            "",
        ]
    )


def _declared(body: str) -> list[str]:
    """What pdfTeX cannot set, such as another script, is set as its code point; other engines set it themselves."""
    strange = sorted({c for c in body if ord(c) > 127 and c not in KNOWN})
    declared = [rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{\texttt{{U+{ord(c):04X}}}}}" for c in strange]
    return [r"\ifdefined\DeclareUnicodeCharacter", *declared, r"\fi"] if declared else []


def _body(report: Report, figures: Mapping[str, Mapping[str, Figure]]) -> Iterator[str]:
    for id_, task in report.tasks.items():
        yield rf"\section{{{latex_text(task['name'])}}}"
        yield _table(results_frame(dict(task)), "rlrrrr")
        pairs = pairs_frame(dict(task))
        if 0 < len(pairs) <= MOST_PAIRS:
            yield _table(pairs, "llrrrr")
        if task["rankings"]:
            yield _table(robustness_frame(task), "l" + "r" * (1 + len(task["rankings"])))
        for one in figures[id_].values():
            yield rf"\begin{{center}}\includegraphics[width=.9\linewidth]{{figures/{one.name}.pdf}}\par"
            yield rf"\small {latex_text(one.caption)}\end{{center}}"
    for table in report.own_rankings:
        yield rf"\section{{{latex_text(table.title)}}}"
        yield _rows(table.header, table.rows)
    yield r"\section{Methods}"
    for paragraph in [*methods(report), missing_rule(report)]:
        yield f"{latex_text(paragraph)}\n"
    yield r"\section*{References}"
    for number, reference in enumerate(REFERENCES.values(), start=1):
        yield rf"\noindent[{number}] {latex_text(reference)}" + "\n"


def robustness_frame(task: Mapping[str, Any]) -> "DataFrame":
    """The rank of each team by each way to rank."""
    from pandas import DataFrame

    ways = [way_words(way, task["unit"]) for way in task["rankings"]]
    rows = []
    for team in task["teams"]:
        if team["score"] is not None:
            ranks = [way["teams"].get(team["team"], {}).get("rank") for way in task["rankings"]]
            rows.append([team["team"], *("" if rank is None else str(rank) for rank in (team["rank"], *ranks))])
    return DataFrame(rows, columns=["Team", "as published", *ways])


def _table(frame: "DataFrame", columns: str) -> str:
    safe = frame.map(latex_text).rename(columns=latex_text)
    return str(safe.to_latex(index=False, escape=False, longtable=True, column_format=columns))


def _rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    from pandas import DataFrame

    return _table(DataFrame(list(map(list, rows)), columns=list(header)), "l" * len(header))
