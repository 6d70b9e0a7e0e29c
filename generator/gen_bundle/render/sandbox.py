"""Where pages are rendered: a template, perhaps another's, sees plain data and files of its own folder alone."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import wraps
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound, TemplateRuntimeError, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

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


class PageSandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, in which a page also comes to an end.

    Every round of a loop and every call is counted, and what operators, filters and calls make is kept small, as is the
    page itself: a foreign competition that goes on for ever ends with an error.
    """

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self, folder: Path) -> None:
        super().__init__(
            loader=_OwnFolder(folder),
            undefined=StrictUndefined,
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

    def page(self, template: str, context: dict[str, Any]) -> str:
        """A template's text.

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
        """A sum, product, power or remainder, of numbers and texts of a size that a page may need."""
        wide = operator == "%" and isinstance(left, str) and WIDE_PLACE.search(left)
        if wide or _is_huge(operator, left, right):
            raise TemplateRuntimeError(TOO_LARGE.format(operator))
        return super().call_binop(context, operator, left, right)

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items of a loop, or those that a filter makes one by one: each is a step."""
        for item in items:
            self._step()
            yield self._shown(item)

    def kept(self, result: Any) -> Any:
        """What a filter, a call or a concatenation has made."""
        if isinstance(result, Sized) and len(result) > MOST_CHARACTERS:
            raise TemplateRuntimeError(GROWS)
        return self.counted(result) if isinstance(result, Iterator) else result

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TemplateRuntimeError(f"the page takes more than {MOST_STEPS:,} rounds of loops and calls")

    def _shown(self, value: Any) -> Any:
        """Count what comes out of expressions and loops, also where a block keeps it."""
        self._characters += len(value) if isinstance(value, str) else 1
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
            if name == "format":
                wide = WIDE_PLACE.search(str(data[0]))
                if wide:
                    raise TemplateRuntimeError(TOO_LARGE.format(name))
                return self.kept(function(*given, **named))
            value = 1 if isinstance(data[0], int) else data[0]
            _refuse_huge(name, [value, *data[1:], *named.values()])
            return self.kept(function(*given, **named))

        return bounded


def _refuse_huge(name: str, data: Iterable[Any]) -> None:
    """Nothing that a filter or a method makes is larger than the product of what it is given."""
    if math.prod(map(_weight, data)) > MOST_WEIGHT:
        raise TemplateRuntimeError(TOO_LARGE.format(name))


def _weight(value: Any) -> int:
    if isinstance(value, int):
        return max(1, abs(value))
    if isinstance(value, str):
        return max(1, len(value))
    if isinstance(value, list | tuple):
        return max(1, sum(max(1, len(one)) if isinstance(one, str) else 1 for one in value))
    return 1


def _is_huge(operator: str, left: Any, right: Any) -> bool:
    """Whether a product or a power takes more room than a page needs; operands of other types fail by themselves."""
    if isinstance(left, int) and isinstance(right, int):
        if operator in "+%":
            return False
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        return bits > MOST_BITS
    lengths = [len(one) for one in (left, right) if isinstance(one, Sized)]
    if operator == "+":
        return sum(lengths) > MOST_CHARACTERS
    times = [one for one in (left, right) if isinstance(one, int)]
    return operator != "%" and bool(lengths and times) and lengths[0] * times[0] > MOST_CHARACTERS


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
        """A template's text.

        Raises:
            TemplateNotFound: there is none in the folder.
        """
        text, file, is_current = super().get_source(environment, template)
        if not Path(file).resolve().is_relative_to(self._home):
            raise TemplateNotFound(template, f"{template} lies outside the competition's folder")
        return text, file, is_current
