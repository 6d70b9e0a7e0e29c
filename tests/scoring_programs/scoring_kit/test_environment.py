"""Where gen-bundle and its extras are installed from: pip's own record of it, as the kit and the press read it."""

import json
import sys
from pathlib import Path

import pytest

from gen_bundle.ground.resources import install_command
from scoring_kit.base.environment import EXTRAS, what_is_missing

COMMIT = "0" * 40


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        ({"url": "file:///my%20folder", "dir_info": {"editable": True}}, "gen-bundle[score] @ file:///my%20folder"),
        (
            {"url": "https://git.example.org/g.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"gen-bundle[score] @ git+https://git.example.org/g.git@{COMMIT}",
        ),
        ({"url": "https://example.org/g.whl", "archive_info": {}}, "gen-bundle[score] @ https://example.org/g.whl"),
        (None, "gen-bundle[score]"),
    ],
)
def test_an_extra_comes_from_where_the_tool_came_from(
    origin: dict[str, object] | None, requirement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "gen_bundle-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: gen-bundle\nVersion: 1\n", encoding="utf-8")
    if origin is not None:
        (installed / "direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert install_command("score") == f'pip install "{requirement}"'
    said = f'The Python package numpy is missing on this machine. Install it: pip install "{requirement}".'
    assert what_is_missing("numpy") == said


def test_a_participants_machine_has_no_gen_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert what_is_missing("sklearn").endswith("Install it: pip install scikit-learn.")
    assert what_is_missing("cv2").endswith(" machine. Install it: pip install opencv-python-headless.")
    assert what_is_missing("nmpy").endswith(" machine. If that is its right name, install it: pip install nmpy.")


def test_the_extras_bring_what_they_are_named_for() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, packages in EXTRAS.items():
        listed = " ".join(project["optional-dependencies"][extra]).replace("-", "_").replace("scikit_learn", "sklearn")
        # what bert-score and transformers bring
        missing = {name for name in packages if name not in listed} - {"tokenizers"}
        assert not missing
