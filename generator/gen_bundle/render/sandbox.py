"""Where pages are rendered: a template, perhaps another's, sees plain data and files of its own folder alone."""

from collections.abc import Callable, Iterable, Iterator, Sized
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


class PageSandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, in which a page also comes to an end.

    Every round of a loop and every call is counted, and products, powers and the page itself are kept small: a foreign
    competition that goes on for ever ends with an error. What a single filter makes is not bounded.
    """

    intercepted_binops = frozenset(["*", "**"])

    def __init__(self, folder: Path) -> None:
        super().__init__(
            loader=_OwnFolder(folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,  # Markdown: Codabench passes raw HTML through, and the declaration is the organiser's own
        )
        self.code_generator_class = _CountedLoops
        self.globals.pop("lipsum")  # texts of any length, which no page needs
        self._steps = 0

    def page(self, template: str, context: dict[str, Any]) -> str:
        """A template's text.

        Raises:
            TemplateError: what is wrong with it; anything else that its expressions raise passes through.
        """
        self._steps = 0
        parts: list[str] = []
        length = 0
        for part in self.get_template(template).generate(context):
            length += len(part)
            if length > MOST_CHARACTERS:
                raise TemplateRuntimeError(f"the page grows beyond {MOST_CHARACTERS:,} characters")
            parts.append(part)
        return "".join(parts)

    def call(self, *given: Any, **named: Any) -> Any:
        """Call what a template calls."""
        self._step()
        return super().call(*given, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """A product or a power, of numbers and texts of a size that a page may need."""
        if _is_huge(operator, left, right):
            raise TemplateRuntimeError(f"the result of {operator} is too large for a page")
        return super().call_binop(context, operator, left, right)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TemplateRuntimeError(f"the page takes more than {MOST_STEPS:,} rounds of loops and calls")

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items of a loop, each of which is a step."""
        for item in items:
            self._step()
            yield item


def _is_huge(operator: str, left: Any, right: Any) -> bool:
    """Whether a product or a power takes more room than a page needs; operands of other types fail by themselves."""
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        return bits > MOST_BITS
    lengths = [len(one) for one in (left, right) if isinstance(one, Sized)]
    times = [one for one in (left, right) if isinstance(one, int)]
    return bool(lengths and times) and lengths[0] * times[0] > MOST_CHARACTERS


class _CountedLoops(CodeGenerator):
    """Compiles `for` so that each round is counted."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        count = nodes.EnvironmentAttribute(PageSandbox.counted.__name__)
        node.iter = nodes.Call(count, [node.iter], [], None, None, lineno=node.lineno)
        super().visit_For(node, frame)


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
