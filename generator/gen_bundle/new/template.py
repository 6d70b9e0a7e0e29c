"""Renders a project's template by cookiecutter, with the filter that puts names into YAML."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension

from gen_bundle.errors import UserError

PLAIN = re.compile(r"[A-Za-z][A-Za-z_]*([ /.-]?[A-Za-z0-9_]+)*")
RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


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
        return "[" + ", ".join(map(yaml_text, value)) + "]"
    if isinstance(value, str) and not (PLAIN.fullmatch(value) and value.lower() not in RESERVED):
        return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
    return value if isinstance(value, str) else json.dumps(value)


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
        raise UserError(f"{template}: cannot be rendered ({_reason(error)}).") from error
    return Path(made).resolve()


def _with_own_variables(own: Mapping[str, Any], answers: Mapping[str, Any], *, ask: bool) -> dict[str, Any]:
    """What the tool knows, and the template's other variables: asked for as cookiecutter does, or their defaults."""
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


def _reason(error: Exception) -> str:
    """The message of cookiecutter, with the reason behind it where there is one."""
    inner = getattr(error, "error", None)
    return f"{error.message}: {inner}" if inner and hasattr(error, "message") else str(error).rstrip(".")
