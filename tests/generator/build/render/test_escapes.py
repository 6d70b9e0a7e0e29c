"""A page template from somebody else cannot run code, read other files or go on for ever."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from gen_bundle.build.package.resolve import resolve
from gen_bundle.build.render.pages import render_pages
from gen_bundle.ground.errors import UserError
from tests.generator.competition import small_competition

SECRET = "what only this machine knows"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition whose overview page each test writes anew; beside it lies what no page may read."""
    folder = small_competition(tmp_path_factory.mktemp("escapes"))
    (folder.parent / "secret.txt").write_text(SECRET, encoding="utf-8")
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "linked").symlink_to("..")
    return folder


def page(folder: Path, text: str) -> str:
    """The overview page that a template makes."""
    (folder / "pages" / "overview.md.j2").write_text(text, encoding="utf-8")
    return render_pages(resolve(folder))["pages/overview.md"].decode()


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, (str(self.path),))


OBJECTS = ["competition", "phases[0]", "tasks[0]", "tasks[0].columns[0]", "primary", "competition.submission"]


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("attribute", ["{}.parse_raw", "({} | attr('parse_raw'))", "{}['parse_raw']"])
def test_no_object_of_a_page_unpickles(folder: Path, name: str, attribute: str) -> None:
    proof = folder / "proof"
    payload = pickle.dumps(Touch(proof), protocol=0).decode("latin-1")
    assert payload.isascii()
    call = f"{attribute.format(name)}({payload!r}, proto='pickle', allow_pickle=True)"
    with pytest.raises(UserError, match="parse_raw"):
        page(folder, f"{{{{ {call} }}}}")
    assert not proof.exists()


ESCAPES = [
    "{{ ''.__class__.__mro__ }}",
    "{{ competition.__class__ }}",
    "{{ competition['__class__'] }}",
    "{{ (competition | attr('__class__')).__mro__ }}",
    "{{ metrics_table.__globals__ }}",
    "{{ metrics_table.__code__.co_consts }}",
    "{{ phases_table.__closure__[0].cell_contents }}",
    "{{ (phases_table | attr('__globals__'))['os'] }}",
    "{{ '{0.__globals__}'.format(metrics_table) }}",
    "{{ '{0.__class__.__mro__}'.format(competition) }}",
    "{{ '{a.__globals__}'.format_map({'a': metrics_table}) }}",
    "{{ ('{0.__globals__}' | attr('format'))(metrics_table) }}",
    "{{ (['{0.__globals__}'] | map(attribute='format') | first)(metrics_table) }}",
    "{{ ([metrics_table] | map(attribute='__globals__') | first).os }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context.environment.loader }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ (range(1) | batch(1)).gi_frame.f_globals }}",
    "{{ competition.update({'title': 'mine'}) }}",
    "{{ tasks.clear() }}",
    "{% import 'os' as os %}",
    "{% include '../secret.txt' %}",
    "{% include 'pages/../../secret.txt' %}",
    "{% include 'link.txt' %}",
    "{% import 'linked/secret.txt' as secret %}{{ secret }}",
    "{% extends 'link.txt' %}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_no_template_reaches_beyond_its_data(folder: Path, template: str) -> None:
    with pytest.raises(UserError, match=r"pages/overview\.md\.j2") as caught:
        page(folder, template)
    assert SECRET not in str(caught.value)


ENDLESS = [
    "{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "{% for a in [[]] recursive %}{{ loop([[]]) }}{{ loop([[]]) }}{% endfor %}",
    "{% include 'pages/overview.md.j2' %}",
    "{{ range(10 ** 9) | list }}",
    "{{ 'x' * 10 ** 9 }}",
    "{{ 10 ** (10 ** 8) }}",
    "{% set n = namespace(x=3 ** 60) %}{% for i in range(40) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "{% for i in range(90000) %}{{ 'a fairly long text of more than 45 characters in all' }}{% endfor %}",
    "{{ lipsum(100000) }}",
    "{{ [1] | slice(10 ** 9) | list | length }}",
    "{{ [1] | batch(10 ** 9, 'x') | list | length }}",
    "{{ 'x' | center(10 ** 9) | length }}",
    "{% filter center(10 ** 9) %}x{% endfilter %}",
    "{{ 'x'.center(10 ** 9) | length }}",
    "{{ ('x' | attr('ljust'))(10 ** 9) | length }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ ('%' ~ '9' * 9 ~ 'd') % 1 }}",
    "{{ '%*d' | format(10 ** 9, 1) }}",
    "{{ '{:1000000000}'.format(1) | length }}",
    "{{ '{:{}}'.format(1, 10 ** 9) | length }}",
    "{{ '{a:1000000000}'.format_map({'a': 1}) | length }}",
    "{{ 'x\n' | indent(10 ** 9) | length }}",
    "{{ {'a': [1]} | tojson(indent=10 ** 9) | length }}",
    "{{ ('a' * 100000) | replace('a', 'b' * 100000) | length }}",
    "{{ ('a' * 100000).replace('a', 'b' * 100000) | length }}",
    "{{ ([''] * 100000) | join('x' * 100000) | length }}",
    "{{ range(100000) | map('center', 10 ** 6) | list | length }}",
    "{% set n = namespace(x='x' * 1000) %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{% set n = namespace(x='x' * 1000) %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set x %}{% for i in range(90000) %}{{ 'y' * 100000 }}{% endfor %}{% endset %}",
]


@pytest.mark.parametrize("template", ENDLESS)
def test_a_page_comes_to_an_end(folder: Path, template: str) -> None:
    with pytest.raises(UserError, match=r"pages/overview\.md\.j2"):
        page(folder, template)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ ('word ' * 20000) | truncate(300) | length }}", "297"),
        ("{{ ('word ' * 20000) | wordwrap(79) | length }}", "99999"),
        ("{{ 1700000000 | filesizeformat }}", "1.7 GB"),
        ("{{ '%d teams' | format(1700000000) }}", "1700000000 teams"),
        ("{{ '{:>5}'.format('x') }}", "    x"),
        ("{{ '%.3f' % 0.5 }}", "0.500"),
        ("{{ range(20) | batch(6, '') | map('length') | join('-') }}", "6-6-6-6"),
        ("{{ range(3) | map('string') | join(', ') }}", "0, 1, 2"),
        ("{{ '20,350,101' | replace(',', '') }}", "20350101"),
        ("{{ ('x,' * 50000).split(',') | length }}", "50001"),
        ("{{ 'A' | lower ~ 'b' ~ 1 }}", "ab1"),
    ],
)
def test_what_a_page_needs_is_not_bounded(folder: Path, template: str, expected: str) -> None:
    assert page(folder, template).strip() == expected.strip()


def test_a_page_uses_its_data_by_name(folder: Path) -> None:
    expressions = [
        "competition.title",
        "competition['title']",
        "phases[0].start.strftime('%Y')",
        "phases[0].start.year",
        "tasks[0].columns[0].title",
        "primary.key",
        "competition.submission.fields | map(attribute='field') | first",
        "'-' * 3",
    ]
    loop = "{% for task in tasks recursive %}{{ loop.index }} of {{ loop.length }}: {{ task.name }}{% endfor %}"
    template = "|".join([*(f"{{{{ {expression} }}}}" for expression in expressions), loop])
    declaration = resolve(folder).declaration
    year, task = declaration.phases[0].start.year, declaration.tasks[0]
    assert page(folder, template).strip().split("|") == [
        *[declaration.title] * 2,
        *[str(year)] * 2,
        task.columns[0].title,
        task.columns[0].key,
        declaration.submission.fields[0].field,
        "---",
        f"1 of 1: {task.name}",
    ]
