"""Programs that Python 3 cannot parse, or whose imports the image has not; and innocents."""

import sys
from pathlib import Path

import pytest

from gen_bundle.codabench.worker import PLATFORM_IMAGE
from tests.generator.check.drafts import new

OLD = {
    "print": "print 'hello'\n",
    "exec": "exec 'x = 1'\n",
    "octal": "import os\nos.mkdir('x', 0755)\n",
    "backticks": "x = `1`\n",
    "unequal": "if 1 <> 2:\n    pass\n",
    "raise": "raise ValueError, 'odd'\n",
    "long": "x = 10L\n",
    "unicode": "x = ur'a'\n",
    "tabs": "if True:\n        x = 1\n\ty = 2\n",
    "unpacking": "def f((a, b)):\n    return a\n",
}
INNOCENT = {
    "generics": "def first[T](items: list[T]) -> T:\n    return items[0]\n",
    "alias": "type Number = int | float\n",
    "quotes": "x = {'a': 1}\nprint(f'{x['a']}')\n",
    "strings": "print(t'{1}')\n",
    "except": "try:\n    pass\nexcept ValueError, TypeError:\n    pass\n" if sys.version_info >= (3, 14) else "x = 1\n",
    "escape": "x = '\\d'\n",
    "both": "from __future__ import print_function\nprint('x')\n",
    "optional": "try:\n    import old\nexcept Exception:\n    old = None\n",
}


def found(
    tmp_path: Path, files: dict[str, str], command: str, rule: str = "program-not-python-3", **keys: str
) -> list[str]:
    draft = new()
    draft.yaml.update(keys)
    draft.files["scoring/metadata.yaml"] = f"command: {command}\n".encode()
    draft.files.update({f"scoring/{name}": text.encode() for name, text in files.items()})
    return [finding.what for finding in draft.check(tmp_path).findings if finding.id == rule]


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize(
    "command", ["python3 score.py", "python score.py a b", "/usr/bin/python3.7 /app/program/score.py"]
)
def test_python_2_is_found_by_file_and_line(name: str, command: str, tmp_path: Path) -> None:
    (what,) = found(tmp_path, {"score.py": OLD[name]}, command)
    line = {"octal": 2, "tabs": 3}.get(name, 1)
    assert f"score.py:{line} is not Python 3: " in what


@pytest.mark.parametrize("name", INNOCENT)
def test_what_some_python_3_parses_is_let_be(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"score.py": INNOCENT[name], "old.py": OLD["print"]}, "python3 score.py") == []


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("python2 score.py", {}),
        ("python2.7 score.py", {}),
        ("python score.py", {"docker_image": "python:2.7"}),
        ("bash run.sh", {}),
        ("Rscript score.py", {}),
    ],
)
def test_what_another_interpreter_runs_is_let_be(command: str, keys: dict[str, str], tmp_path: Path) -> None:
    assert found(tmp_path, {"score.py": OLD["print"], "run.sh": "python2 score.py\n"}, command, **keys) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"score.py": "import a.b\n", "a/__init__.py": "", "a/b.py": OLD["print"]}, "a/b.py:1"),
        ({"score.py": "from a import b\n", "a/__init__.py": OLD["long"]}, "a/__init__.py:1"),
        ({"score.py": "import a\n", "a.py": "import c\n", "c.py": OLD["exec"]}, "c.py:1"),
        ({"score.py": "def f():\n    import a\n", "a.py": OLD["exec"]}, ""),
    ],
)
def test_modules_that_are_surely_imported_are_parsed_as_well(
    files: dict[str, str], expected: str, tmp_path: Path
) -> None:
    whats = found(tmp_path, files, "python3 score.py")
    assert [expected in what for what in whats] == ([True] if expected else [])


@pytest.mark.parametrize(
    ("files", "absent"),
    [
        ({"score.py": "import torch\n"}, "torch"),
        ({"score.py": "from nltk.tokenize import word_tokenize\nimport evaluate, numpy\n"}, "nltk, evaluate"),
        ({"score.py": "import metrics\n", "metrics.py": "import os\nimport sacrebleu.metrics\n"}, "sacrebleu"),
        ({"score.py": "from distutils.util import strtobool\n"}, "distutils"),
        ({"score.py": "import cgi, telnetlib, sklearn.metrics, yaml, PIL\n"}, ""),
        ({"score.py": "try:\n    import torch\nexcept ImportError:\n    torch = None\n"}, ""),
        ({"score.py": "def f():\n    import torch\n"}, ""),
        ({"score.py": "import metrics\n", "lib/metrics/__init__.py": ""}, ""),
        ({"score.py": "import fast\n", "fast.cpython-312-x86_64-linux-gnu.so": ""}, ""),
        ({"score.py": "import sys\nsys.path.append('/app/ingested_program')\nimport model\n"}, ""),
        ({"score.py": "import os\nos.system('pip install torch')\nimport torch\n"}, ""),
        ({"score.py": "import os\n", "plots.py": "import seaborn\n"}, ""),
    ],
)
def test_an_import_of_what_the_platforms_image_has_not(tmp_path: Path, files: dict[str, str], absent: str) -> None:
    whats = found(tmp_path, files, "python score.py", "library-missing", docker_image=PLATFORM_IMAGE)
    needs = f"needs {absent}, which {PLATFORM_IMAGE} has not"
    assert [what.partition("' ")[2] for what in whats] == ([needs] if absent else [])
    assert found(tmp_path, files, "python score.py", "library-missing", docker_image="team/image:1") == []
