"""Write docs/cli.md from the commands themselves: `python docs/make_cli.py`."""

from pathlib import Path

import click

from gen_bundle.cli import VERBS, root

PAGE = Path(__file__).with_name("cli.md")
PREFACE = """\
# The command line

This page is generated from the commands: `python docs/make_cli.py`. `gen-bundle VERB --help` prints the same.

`gen-bundle NAME_OR_DIR [OPTIONS]` builds a competition ([build](#build)); everything else begins with a verb.

| Exit status | Meaning |
| --- | --- |
| 0 | fine |
| 1 | findings, a failed run, a difference |
| 2 | wrong use, or input that cannot be read |
| 3 | a bug in gen-bundle |
| 130 | interrupted |

Messages for people go to stderr; `--json` prints what programs read to stdout. Shell completion:
`eval "$(_GEN_BUNDLE_COMPLETE=bash_source gen-bundle)"` (or `zsh_source`, `fish_source`).

"""


def page() -> str:
    """The whole page."""
    context = click.Context(root, info_name="gen-bundle", terminal_width=100, max_content_width=100, show_default=True)
    index = ["| Verb | What it does |", "| --- | --- |"]
    index += [f"| [{verb}](#{verb}) | {cell(what)} |" for verb, what in VERBS.items()]
    sections = []
    for verb in VERBS:
        sections += section(*found(root, verb, context), "##")
    return PREFACE + "\n".join([*index, "", *sections])


def found(group: click.Group, name: str, above: click.Context) -> tuple[click.Command, click.Context]:
    """A command of a group, and its context."""
    command = group.get_command(above, name)
    if command is None:
        raise LookupError(name)
    return command, click.Context(command, info_name=name, parent=above)


def section(command: click.Command, context: click.Context, head: str) -> list[str]:
    """A command with its options and examples, then the commands within it."""
    name = context.command_path.removeprefix("gen-bundle ")
    lines = [f"{head} {name}", "", paragraph(command.help), "", "```text", command.get_usage(context), "```", ""]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if records:
        lines += ["| Option | |", "| --- | --- |"]
        lines += [f"| `{cell(names)}` | {cell(what)} |" for names, what in records]
        lines.append("")
    if command.epilog:
        formatter = context.make_formatter()
        command.format_epilog(context, formatter)
        lines += [
            "```text",
            "\n".join(line.strip() and line[2:] for line in formatter.getvalue().strip("\n").split("\n")),
            "```",
            "",
        ]
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            lines += section(*found(command, below, context), f"{head}#")
    return lines


def paragraph(text: str | None) -> str:
    """A help text as Markdown: paragraphs, each in one line."""
    return "\n\n".join(" ".join(part.replace("\b", "").split()) for part in (text or "").split("\n\n"))


def cell(text: str) -> str:
    """A text as it may be in a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
