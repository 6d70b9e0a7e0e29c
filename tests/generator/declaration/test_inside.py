"""What a competition's folder takes into the bundle lies in it: a foreign one publishes no file of this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from gen_bundle.build.building import BuildRequest, build
from gen_bundle.build.package.resolve import resolve
from gen_bundle.ground.errors import UserError
from tests.generator.competition import small_competition


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.csv").write_text("id,label\nt1,positive\n", encoding="utf-8")
    return small_competition(tmp_path)


def replaced(path: Path, target: str) -> None:
    """Put a link in place of a file."""
    path.unlink()
    path.symlink_to(target)


def moved(path: Path) -> None:
    """Put a link in place of a folder."""
    path.rename(path.parent.parent / "moved")
    path.symlink_to("../moved")


LINKS: dict[str, Callable[[Path], object]] = {
    "logo.png": lambda folder: replaced(folder / "logo.png", "../private/key.csv"),
    "pages/terms.md.j2": lambda folder: replaced(folder / "pages" / "terms.md.j2", "../../private/key.csv"),
    "pages/extra.md": lambda folder: (folder / "pages" / "extra.md").symlink_to("../../private/key.csv"),
    "data/public/key.csv": lambda folder: (folder / "data" / "public" / "key.csv").symlink_to(
        "../../../private/key.csv"
    ),
    "data/test/gold.csv": lambda folder: replaced(folder / "data" / "test" / "gold.csv", "../../../private/key.csv"),
    "data/public/more": lambda folder: (folder / "data" / "public" / "more").symlink_to("../../../private"),
    "data": lambda folder: moved(folder / "data"),
    "starting_kit": lambda folder: (folder / "starting_kit").symlink_to("../private"),
}


@pytest.mark.parametrize("link", LINKS)
def test_a_link_that_leads_outside_is_refused_by_name(folder: Path, link: str) -> None:
    LINKS[link](folder)
    with pytest.raises(UserError) as caught:
        build(BuildRequest(str(folder), folder.parent / "out.zip"))
    assert [message.partition(":")[0] for message in caught.value.messages] == [link]
    assert not (folder.parent / "out.zip").exists()


NAMES: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("../private/key.csv", lambda declaration: declaration.update(logo="../private/key.csv")),
    ("../private/key.csv", lambda declaration: declaration.update(terms="../private/key.csv")),
    ("../private/key.csv", lambda declaration: declaration["pages"][0].update(file="../private/key.csv")),
    ("private/key.csv", lambda declaration: declaration.update(options={"table": "../private/key.csv"})),
]


@pytest.mark.parametrize(("named", "change"), NAMES)
def test_a_name_that_leads_outside_is_refused(
    named: str, change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.csv").write_text("secret\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        resolve(small_competition(tmp_path, change))
    (message,) = caught.value.messages
    assert message.partition(": leads to ")[0].endswith(named)


def test_links_inside_the_folder_are_fine(folder: Path) -> None:
    (folder / "data" / "public" / "again.csv").symlink_to("test/texts.csv")
    (folder / "pages" / "again.md").symlink_to("terms.md.j2")
    assert resolve(folder).name == folder.name


def test_the_command_line_names_what_lies_anywhere(folder: Path) -> None:
    own = folder.parent / "own"
    (folder / "data").rename(own)
    (folder.parent / "linked").symlink_to("own")
    (own / "public" / "key.csv").symlink_to("../../private/key.csv")
    declaration = yaml.safe_load((folder / "bundle.yaml").read_text(encoding="utf-8"))
    declaration["options"] = {"table": "none"}
    (folder / "bundle.yaml").write_text(yaml.safe_dump(declaration, sort_keys=False), encoding="utf-8")
    chosen = resolve(
        folder, data=folder.parent / "linked", overrides=(f"options.table={folder.parent / 'private/key.csv'}",)
    )
    assert chosen.data == own
    assert list(chosen.program_files) == ["files/key.csv"]
