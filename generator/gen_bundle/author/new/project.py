"""Makes a new competition's folder: beside its place first, then moved there whole."""

import hashlib
import io
import json
import keyword
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension

from gen_bundle.author.new.data import example, write_data, write_sample
from gen_bundle.author.new.declare import task_of
from gen_bundle.author.new.propose import Proposal
from gen_bundle.build.package.phase_data import prepare_reference
from gen_bundle.build.package.programs import SAMPLE
from gen_bundle.build.package.resolve import remember_own_code, resolve
from gen_bundle.declaration.read import FILE, read_competition
from gen_bundle.declaration.source import nearest, read_source
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.resources import PLACEHOLDER, REAL_TASKS, SCAFFOLD, competitions, resource
from scoring_kit.base.submissions import JUNK

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*([ /.-][A-Za-z0-9_]+)*")
RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
DECLARATION = "declaration.yaml"
PHASE = "test"
"""The one phase; a further one is another folder of the data."""


class TextFilters(Extension):
    """The filter `yaml` of templates."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.filters.update(yaml=yaml_text)


def yaml_text(value: Any) -> str:
    """A value as YAML 1.2 on one line, texts quoted where they could be read as anything else."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_text(key)}: {yaml_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_text(one) for one in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if PLAIN.fullmatch(value) and value.lower() not in RESERVED:
        return value
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def render(template: Path, answers: Mapping[str, Any], into: Path, *, ask: bool = False) -> Path:
    """Render a cookiecutter template into the folder `into`; returns the project's folder.

    Args:
        template: a folder with `cookiecutter.json` and the project's folder, named `{{cookiecutter.name}}`.
        answers: the values that the tool knows; they go before those of `cookiecutter.json`.
        into: where the project's folder is made.
        ask: whether to ask for the other variables of `cookiecutter.json`; else their defaults are taken.

    Raises:
        UserError: the template cannot be read or rendered.
    """
    from cookiecutter.exceptions import CookiecutterException
    from cookiecutter.generate import generate_context, generate_files

    settings = template / "cookiecutter.json"
    if not settings.is_file():
        raise UserError(f"--template {template}: no cookiecutter.json in it. Expected a cookiecutter template.")
    try:
        own = generate_context(str(settings))["cookiecutter"]
        context = _with_own_variables(own, answers, ask=ask)
        made = generate_files(repo_dir=str(template), context={"cookiecutter": context}, output_dir=str(into))
    except TemplateSyntaxError as error:
        raise UserError(f"{error.filename or template}:{error.lineno}: {error.message}.") from error
    except (CookiecutterException, TemplateError) as error:
        reason, inner = str(error).rstrip("."), getattr(error, "error", None)
        if inner and hasattr(error, "message"):
            reason = f"{error.message}: {inner}"
        raise UserError(f"{template}: cannot be rendered ({reason}).") from error
    return Path(made).resolve()


def _with_own_variables(own: Mapping[str, Any], answers: Mapping[str, Any], *, ask: bool) -> dict[str, Any]:
    """Return what the tool knows, and the template's other variables: as cookiecutter asks for them, or defaults."""
    from cookiecutter.prompt import (
        read_user_choice,
        read_user_dict,
        read_user_variable,
        read_user_yes_no,
        render_variable,
    )
    from cookiecutter.utils import create_env_with_context

    context = {**{name: value for name, value in own.items() if name.startswith("_")}, **answers}
    environment = create_env_with_context({"cookiecutter": context})
    prompts = {list: read_user_choice, bool: read_user_yes_no, dict: read_user_dict}
    for name, value in own.items():
        if name not in context:
            default = render_variable(environment, value, context)
            if ask:
                prompt = prompts.get(type(value), read_user_variable)
                context[name] = prompt(name, default, own.get("__prompts__"))
            else:
                context[name] = default[0] if isinstance(default, list) else default
    return context


LONGEST_NAME = 36
SCHEMA = "bundle.schema.json"
TRAIN = "train"
"""The folder of the public data with what participants train on."""
LOGO_SIDE = 256
# What scoring programs import: a package of the same name would be found in its place.
IMPORTED = {"bert_score", "matplotlib", "nltk", "numpy", "pandas", "scipy", "sklearn", "torch", "transformers", "yaml"}
OURS = {"declared", "scoring_kit", "score", "tests", "data", "pages"}


@dataclass(frozen=True)
class Place:
    """The name of a new competition, and where it goes.

    Attributes:
        name: of its folder.
        parent: the folder that it is made in.
        title: None for one made of the name.
    """

    name: str
    parent: Path
    title: str | None = None

    @property
    def folder(self) -> Path:
        return self.parent / self.name

    def answers(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title or self.name.replace("-", " ").replace("_", " ").capitalize(),
            "year": str(datetime.now(UTC).year + 1),
            "version": metadata.version("gen-bundle"),
        }


def check_name(place: Place) -> None:
    """Raise UserError where the name cannot be used, or the folder exists."""
    name = place.name
    path = Path(name)
    if path.name != name and path.name:
        parent = place.parent / path.parent
        raise UserError(f"{name!r}: expected a name. For a folder elsewhere: gen-bundle new {path.name} --in {parent}")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        expected = "at most 36 letters a to z, digits, - and _, starting with a letter; --title takes any text"
        raise UserError(f"{name!r}: expected a name of {expected}.")
    if name in competitions():
        raise UserError(f"{name!r}: a competition of this name comes with the tool. Choose another one.")
    _check_absent(place)


def _check_absent(place: Place) -> None:
    if place.folder.exists():
        raise UserError(f"{place.folder}: exists already. Choose another name, or remove it.")


@contextmanager
def unfinished(place: Place) -> Iterator[Path]:
    """A folder beside the new one's place; what was made in it under the name is moved there at the end.

    Raises:
        UserError: the name cannot be used, the folder exists, or nothing can be written there.
    """
    check_name(place)
    work = place.parent / f".{place.name}.{secrets.token_hex(4)}.tmp"
    try:
        work.mkdir(parents=True)
        yield work
        _check_absent(place)
        (work / place.name).rename(place.folder)
    except OSError as error:
        where = error.filename or place.parent
        raise UserError(
            f"--in {place.parent}: {error.strerror or error} ({where}). Expected a writable folder with free space."
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def new_declared(
    place: Place,
    proposal: Proposal,
    phases: Mapping[str, Sequence[int]],
    template: Path | None = None,
    *,
    train: Path | None = None,
    ask: bool = False,
    check: bool = True,
) -> Path:
    """Write a competition that is scored without Python; returns its folder.

    Args:
        place: name and place.
        proposal: its gold and what the columns are for.
        phases: phase id → its rows of the gold.
        template: a cookiecutter template in place of the tool's own.
        train: a file for participants to train on, published as it is.
        ask: whether the template may ask for its own variables.
        check: whether the scoring program reads the gold before anything is put in place, which takes seconds.

    Raises:
        UserError: it cannot be written, or the gold does not fit.
    """
    with unfinished(place) as work:
        answers = {**place.answers(), "task": task_of(proposal, phases)}
        folder = render(template or SCAFFOLD / "declared", answers, work, ask=ask)
        if folder != (work / place.name).resolve():
            raise UserError(
                f"--template {template}: its folder is not named {{{{cookiecutter.name}}}}. Expected that name."
            )
        write_data(folder / "data", proposal, phases)
        if train is not None:
            (folder / "data" / "public" / TRAIN).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(train, folder / "data" / "public" / TRAIN / train.name)
        sample, sample_phases = example(proposal, list(phases))
        write_data(folder / "example", sample, sample_phases)
        if proposal.code:
            sample, rows = example(proposal, [SAMPLE])
            for data in ("data", "example"):
                write_sample(folder / data / "public" / SAMPLE, sample, rows[SAMPLE][: len(rows[SAMPLE]) // 2])
        finish(place, folder, check=check)
    return place.folder


def finish(place: Place, folder: Path, *, check: bool = False) -> None:
    """Put into a project what every one has, and see that it can be read, with `check` its gold, too.

    Raises:
        UserError: the declaration cannot be read, or the gold does not fit.
    """
    if not (folder / "logo.png").exists():
        (folder / "logo.png").write_bytes(placeholder_logo(place.name, place.answers()["title"]))
    write_schema(folder)
    read_competition(folder)
    if check:
        check_gold(folder)
    remember_own_code(resolve(folder))


def write_schema(folder: Path) -> None:
    """Put the schema beside bundle.yaml, so that it is found on every machine that the folder comes to."""
    shutil.copyfile(resource("bundles") / SCHEMA, folder / SCHEMA)


def check_gold(folder: Path) -> None:
    """Let the scoring program read the gold of each phase as a build will; raises UserError with what it says."""
    competition = resolve(folder)
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gen-bundle-") as work, competition.opened() as opened:
        for phase in competition.declaration.phases:
            try:
                prepare_reference(opened, opened.tasks, phase.id, Path(work) / phase.id)
            except UserError as error:
                problems += [f"{phase.id}: {message}" for message in error.messages]
    raise_all(dict.fromkeys(problems), "Lines are those of the gold as it is divided between the phases.")


def new_package(place: Place) -> Path:
    """Write a competition with a scoring package; returns its folder.

    Raises:
        UserError: the name cannot be used, the folder exists, or it cannot be written.
    """
    package = place.name.lower().replace("-", "_")
    if package in OURS:
        raise UserError(f"{place.name!r}: this name is taken by the tool itself. Choose another one.")
    if package in IMPORTED or package in sys.stdlib_module_names or keyword.iskeyword(package):
        raise UserError(f"{place.name!r}: this name means something to Python already. Choose another one.")
    with unfinished(place) as work:
        answers = {**place.answers(), "package": package}
        folder = render(SCAFFOLD / "package", answers, work)
        finish(place, folder)
    return place.folder


def placeholder_logo(name: str, title: str) -> bytes:
    """A PNG with the first letter of the title."""
    from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

    hue = int(hashlib.sha256(name.encode()).hexdigest()[:4], 16) % 360
    image = Image.new("RGB", (LOGO_SIDE, LOGO_SIDE), f"hsl({hue}, 45%, 38%)")
    letter = next((char for char in title + name if char.isascii() and char.isalnum()), "?").upper()
    font = ImageFont.load_default(LOGO_SIDE * 0.6)
    ImageDraw.Draw(image).text((LOGO_SIDE / 2, LOGO_SIDE / 2), letter, fill="white", font=font, anchor="mm")
    about = PngImagePlugin.PngInfo()
    about.add_text("Comment", PLACEHOLDER)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", pnginfo=about)
    return buffer.getvalue()


SCHEMA_LINE = re.compile(r"^# yaml-language-server: .*\n")


def copy_competition(place: Place, name: str, tasks: Sequence[str] = ()) -> Path:
    """Copy the bundled competition `name` with these tasks (none named: all); returns the new folder.

    Its scoring package stays the tool's own, found by its name, so that corrections reach the copy.

    Raises:
        UserError: no such competition or task, or it cannot be written.
    """
    known = competitions()
    if name not in known:
        raise UserError(f"--from {name}: no such competition. {nearest(name, list(known))}")
    ids = [task.id for task in read_competition(known[name]).tasks]
    unknown = [task for task in tasks if task not in ids]
    if unknown:
        raise UserError(*(f"--tasks {task}: {name} has no such task. {nearest(task, ids)}" for task in unknown))
    with unfinished(place) as work:
        answers = {**place.answers(), "source": name}
        folder = render(SCAFFOLD / "copy", answers, work)
        ignored = shutil.ignore_patterns(*JUNK)
        shutil.copytree(known[name], folder, ignore=ignored, dirs_exist_ok=True)
        text = (folder / FILE).read_text(encoding="utf-8")
        text = f"# yaml-language-server: $schema={SCHEMA}\n{SCHEMA_LINE.sub('', text)}"
        unwanted = set(ids) - set(tasks) if tasks else set()
        text = _without_tasks(text, unwanted)
        for path in sorted((folder / "data").rglob("*")):
            if path.name in unwanted and path.is_dir():  # gold, public data and baselines
                shutil.rmtree(path)
        if place.title:
            text = re.sub("(?m)^title: .*$", lambda _: f"title: {yaml_text(place.title)}", text, count=1)
        (folder / FILE).write_text(text, encoding="utf-8")
        write_schema(folder)
        read_competition(folder)
    return place.folder


def _without_tasks(text: str, unwanted: set[str]) -> str:
    """bundle.yaml without the items of these tasks; everything else stays as it is, comments included."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return text
    listed = next(value for key, value in root.value if key.value == "tasks")
    lines = text.splitlines(keepends=True)
    for node in reversed(listed.value):
        task = next(value.value for key, value in node.value if key.value == "id")
        if task in unwanted:
            del lines[node.start_mark.line : _last_line(node) + 1]
    return "".join(lines)


def _last_line(node: yaml.Node) -> int:
    """The last line that a node has anything in; what follows, blank lines and comments, belongs to the next one."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return max(_last_line(value) for _, value in node.value)
    if isinstance(node, yaml.SequenceNode) and not node.flow_style:
        return max(_last_line(value) for value in node.value)
    end = node.end_mark
    return int(end.line) - (end.column == 0)


def real_tasks() -> dict[str, str]:
    """Name → title of the tasks."""
    found = {}
    for file in sorted(REAL_TASKS.glob("*/about.yaml")):
        found[file.parent.name] = str(read_source(file).data["title"])
    return found


def new_like(place: Place, name: str) -> Path:
    """Write a competition that is declared like the real task `name`; returns its folder.

    Raises:
        UserError: no such task, or it cannot be written.
    """
    known = real_tasks()
    if name not in known:
        width = max(len(one) for one in known)
        listed = "\n".join(f"  {one:{width}}  {title}" for one, title in known.items())
        raise UserError(f"--like {name}: no such task. There are:\n{listed}")
    task = REAL_TASKS / name
    declared = read_source(task / DECLARATION).data
    tables = declared["submission"].get("tables") or {"": declared["submission"]}
    of_files = list(tables.values())
    is_text, many = True, False
    for table in tables.values():
        of_files += table["fields"]
        many = many or table.get("rows") == "many"
        for field in table["fields"]:
            is_text = is_text and field.get("type") not in ("file", "array")
    files = dict.fromkeys(f"`{one['file']}`" for one in of_files if "file" in one)
    values = {
        "declaration": (task / DECLARATION).read_text(encoding="utf-8"),
        "like": f"{name}: {known[name]}",
        "files": ", ".join(files) + is_text * ", in UTF-8",
        "phases": [PHASE],
        "many": many,
    }
    return new_with_data(place, task, values)


def new_with_data(place: Place, source: Path, task: Mapping[str, Any]) -> Path:
    """Write a competition whose declaration is given, with the code and the made-up data of a folder; returns its own.

    Raises:
        UserError: it cannot be written.
    """
    with unfinished(place) as work:
        folder = render_with_code(place, source, task, work)
        for data in ("data", "example"):
            shutil.copytree(source / "data", folder / data)
        finish(place, folder)
    return place.folder


def render_with_code(place: Place, source: Path, task: Mapping[str, Any], work: Path) -> Path:
    """Render a project whose declaration is given, with the code of a folder and no data; returns the project."""
    values = {"inputs": False, "many": False, "code": None, **task}
    folder = render(SCAFFOLD / "declared", {**place.answers(), "task": values}, work)
    for code in source.glob("*.py"):
        shutil.copyfile(code, folder / code.name)
    return folder
