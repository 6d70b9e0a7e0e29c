"""bundle.yaml is read strictly: every error at once, each at its place, with what was expected."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen_bundle.declaration.read import read_competition
from tests.generator.competition import errors_of, small_competition
from tests.yaml_text import dumped, loaded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_competition(tmp_path)


def rewrite(folder: Path, old: str, new: str) -> None:
    path = folder / "bundle.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_every_error_at_once_with_its_place(folder: Path) -> None:
    lines = (folder / "bundle.yaml").read_text(encoding="utf-8").splitlines()
    rewrite(folder, "registration: approve", "registraton: approve")
    rewrite(folder, "sort: desc", "sort: descending")
    rewrite(folder, "logo: logo.png", "logo: lego.png")
    rewrite(folder, "submission_rule: last", "submission_rule: last\nlayout: joint")
    messages = errors_of(folder)
    registration = lines.index("registration: approve") + 1
    assert any(
        m.startswith(f"bundle.yaml:{registration}:1: registraton: unknown key. Did you mean 'registration'?")
        for m in messages
    )
    assert any("tasks.classification.columns.macro_f1.sort" in m and "'desc' or 'asc'" in m for m in messages)
    assert any("logo" in m and "no file 'lego.png'" in m for m in messages)
    assert any("layout: the key is used twice" in m for m in messages)
    assert len(messages) == 4


@pytest.mark.parametrize(
    ("override", "wrong", "expected"),
    [
        ("layout=both", "layout", "'joint', 'tasks' or 'separate'"),
        ("title=12:30", None, None),
        ("title=no", None, None),
        ("title=5", "title", "should be a valid string"),
        ("phases.test.max_submissions=many", "phases.test.max_submissions", "should be a valid integer"),
        ("phases.test.max_submissions=3.5", "phases.test.max_submissions", "should be a valid integer"),
        ("phases.test.max_submissions=-1", "phases.test.max_submissions", "greater than or equal to 0"),
        ("phases.test.end=2031-01-01", "phases.test.end", "AoE"),
        ("phases.2.name=Final", "no item '2'", "Expected one of dev, test."),
        ("phases.-1.name=Final", "no item '-1'", "Expected one of dev, test."),
        ("phases.99999999999999999999.name=Final", "no item '99999999999999999999'", "Expected one of dev, test."),
        ("phases.tst.end=2031-01-01 AoE", "no item 'tst'", "Did you mean 'test'?"),
        ("phases.test.ende=2031-01-01 AoE", "ende", "Did you mean 'end'?"),
        ("options.profil=1", "no option 'profil'", "There are none."),
        ("tittle=x", "no key 'tittle'", "Did you mean 'title'?"),
        ("title", "title", "expected KEY.PATH=VALUE"),
        ("title=[", "title", "not valid YAML"),
        ("options=&a {x: *a}", "options", "not valid YAML"),
        ("reward={a: 1, a: 2}", "reward", "not valid YAML"),
        ("phases.test.end=9999-12-31 AoE", "phases.test.end", "a year from 1970 to 9998"),
        ("title.x=1", "title", "holds no further keys"),
        ("tasks.classification.columns.macro_f1.precision=11", "precision", "less than or equal to 10"),
        ("contact=me", "contact", "Expected: an e-mail address"),
        ("queue=default", "queue", "Expected: UUID"),
        ("time_zones=[Europe/Londn]", "time_zones", "Did you mean 'Europe/London'?"),
        ("docker_image=1", "docker_image", "should be a valid string"),
    ],
)
def test_overrides_are_typed_and_checked(folder: Path, override: str, wrong: str | None, expected: str | None) -> None:
    if wrong is None or expected is None:
        title = read_competition(folder, [override]).title
        assert title == override.removeprefix("title=")
        return
    (message,) = errors_of(folder, override)
    assert message.startswith("--set ")
    assert wrong in message
    assert expected in message


def test_a_value_of_several_types_is_told_once_by_its_own_name(folder: Path) -> None:
    rewrite(folder, "worst: 0", "worst: none")
    (message,) = errors_of(folder)
    assert "columns.macro_f1.worst: should be a valid number (found 'none')" in message


def test_overrides_address_list_items_by_id_or_key_or_place(folder: Path) -> None:
    competition = read_competition(
        folder,
        [
            'phases.test.end="2999-03-11 AoE"',
            "tasks.classification.columns.accuracy.precision=2",
            "queue=01234567-89ab-cdef-0123-456789abcdef",
            "fact_sheet.method={type: text, title: Method}",
            "phases.1.name=Final",
            "time_zones=[UTC, Asia/Tokyo]",
            "time_zones.0=Asia/Seoul",
        ],
    )
    assert f"{competition.phases[1].end:%Y-%m-%d %H:%M:%S}" == "2999-03-12 11:59:59"
    assert competition.tasks[0].columns[1].precision == 2
    assert competition.fact_sheet["method"].title == "Method"
    assert [phase.name for phase in competition.phases] == ["Development", "Final"]
    assert competition.time_zones == ["Asia/Seoul", "Asia/Tokyo"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("key: accuracy", "key: macro_f1", "'macro_f1' is used twice"),
        ("worst: 0", "hidden: false", "worst is missing"),
        ("worst: 0", "worst: 0\n    hidden: true", "Expected one that is shown"),
        ("worst: 0", "worst: .nan", "worst"),
        ("worst: 0", "computation: avg\n    of: [f1]", "no written column 'f1'"),
        ("terms: pages/terms.md.j2", "terms: pages/term.md.j2", "no file 'pages/term.md.j2'"),
        ("title: My task", "title: " + "x" * 223, "at most 222 characters"),
        ("title: My task", "title: Emotions: a task", 'a text with ": " in it must be in quotes'),
        ("key: accuracy", "key: " + "x" * 37, "at most 36 characters"),
        ("name: Classification\n", "name: null\n", "should be a valid string"),
    ],
)
def test_rules_between_values(folder: Path, old: str, new: str, expected: str) -> None:
    rewrite(folder, old, new)
    assert any(expected in message and message.startswith("bundle.yaml:") for message in errors_of(folder))


@pytest.mark.parametrize(
    "content", [b"", b"- a\n", b"\xff\xfe", b"a: [", b"a: &x [*x]", b"a: !!python/object:os.x 1", b"? [a]\n: 1"]
)
def test_a_file_that_is_no_declaration(folder: Path, content: bytes) -> None:
    (folder / "bundle.yaml").write_bytes(content)
    messages = errors_of(folder)
    assert messages
    assert all(message.startswith("bundle.yaml") for message in messages)


@pytest.mark.slow
def test_a_yaml_bomb_is_refused_quickly(folder: Path) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (folder / "bundle.yaml").write_text("\n".join(levels), encoding="utf-8")
    assert any("aliases that loop or multiply" in message for message in errors_of(folder))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def any_folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = small_competition(tmp_path_factory.mktemp("any"))
    return folder, (folder / "bundle.yaml").read_text(encoding="utf-8")


@pytest.mark.slow
@given(data=st.data())
def test_no_declaration_ends_in_a_traceback(any_folder: tuple[Path, str], data: st.DataObject) -> None:
    folder, sound = any_folder
    declaration = loaded(sound)
    place = declaration
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(values)
            break
        place = place[key]
    (folder / "bundle.yaml").write_text(dumped(declaration, sort_keys=True), encoding="utf-8")
    assert all(message.startswith("bundle.yaml") for message in errors_of(folder))
