"""What MkDocs adds to the Markdown files of docs/, which GitHub shows as they are."""

import html
import re
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MADE = {
    "checks.md": ("Rules of the check", "make_checks.py", "page"),
    "each-real-task.md": ("Each real task", "make_real_tasks.py", "each_task"),
}
"""Pages that are made with the site alone: title, program, function."""
OF_THE_ROOT = ("CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")
SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
PAGE = re.compile(r"^- \[([^\]]+)\]\(([^)#]+)\)", re.MULTILINE)
PIPE_IN_CODE = re.compile(r"`([^`\n]*)\\\|([^`\n]*)`")
LINK_OUT = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")
FLOW_CHART = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLOOR = re.compile(r"subgraph \w+ \[(.*?)\]\n(.*?)\n    end", re.DOTALL)


def on_config(config: Any) -> Any:
    """Take the navigation from the sections and links of docs/README.md."""
    index = Path(config.docs_dir, "README.md").read_text(encoding="utf-8")
    config.nav = [{"What to read": "README.md"}]
    for title, text in SECTION.findall(index):
        pages = [{page: path.removeprefix("../")} for page, path in PAGE.findall(text)]
        if pages:
            config.nav.append({title: pages})
    config.nav.append({"Made with this site": [{title: page} for page, (title, *_) in MADE.items()]})
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that lie in the root of the repository, and those that are made."""
    from mkdocs.structure.files import File

    for name in OF_THE_ROOT:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text.replace("](docs/", "](")))
    for name, (_, program, function) in MADE.items():
        content = runpy.run_path(str(ROOT / "docs" / program))[function]()
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write down for MkDocs what GitHub shows otherwise: a pipe in a table's code, links out of docs/, a drawing."""
    markdown = PIPE_IN_CODE.sub(r"<code>\1&#124;\2</code>", markdown)
    return FLOW_CHART.sub(_floors, LINK_OUT.sub(_within, markdown))


def _within(link: re.Match[str]) -> str:
    """A link to a page of the site; of another link out of docs/, to a file that the site does not hold, its text."""
    text, path = link.groups()
    return f"[{text}]({path})" if path.partition("#")[0] in OF_THE_ROOT else text


def _floors(chart: re.Match[str]) -> str:
    """The subgraphs of a flow chart, one below the other; its arrows all point down."""
    floors = ""
    for title, listed in FLOOR.findall(chart[1]):
        rooms = " ".join(f"<code>{room}</code>" for room in listed.split())
        floors += f"<li><span>{html.escape(title)}</span> {rooms}</li>"
    return f'<ol class="floors">{floors}</ol>\n'
