"""Any bundle, opened as one in Codabench's own format: what is nearly right is put right, CodaLab's is converted."""

import posixpath
import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from gen_bundle.author.new.project import placeholder_logo
from gen_bundle.check.bundle import Bundle, open_bundle, page_files
from gen_bundle.codabench.reading import YAML_NAME, CompetitionYaml, as_text, mistaken_for_yaml
from gen_bundle.codabench.settings import check_top, is_uuid
from gen_bundle.ground.errors import UserError, raise_all
from gen_bundle.ground.resources import SCAFFOLD_TEXT
from gen_bundle.ground.yaml_document import MAX_BYTES, UnreadableYamlError, dotted, read_yaml
from gen_bundle.ground.zips.tree import Node, file_of, is_encodable
from gen_bundle.ground.zips.unpacking import parts_of

PYTHON_TAG = re.compile(rb"!!python/\S+[ \t]*")
ABSENT = "NOT-IN-THE-BUNDLE"
"""The one file in the folder that stands for a program or data that the bundle names and does not hold."""
NO_PAGE = f"{SCAFFOLD_TEXT}: this page was not in the bundle.\n".encode()


@dataclass
class Imported:
    """An account of what became of a bundle.

    Attributes:
        original: competition.yaml as it was.
        changed: what is taken for something else, or written differently, a line each.
        converted: in what the project differs from what Codabench itself reads in a bundle of CodaLab's, a line each.
        lost: what could not be carried over, a line each.
        absent: what the bundle names and does not hold, with its place in the project, a line each.
        faults: what bundle.yaml cannot say as it is, a line each, with its place there.
    """

    original: bytes = b""
    changed: list[str] = field(default_factory=list)
    converted: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def open_any(path: Path, now: datetime, held: ExitStack, imported: Imported) -> Bundle:
    """Open a bundle in either format; it can be read until `held` is closed. `imported` gets what is to be said of it.

    Raises:
        UserError: it is no bundle, or is broken.
    """
    try:
        bundle = open_bundle(path, now, held)
    except OSError as error:
        raise UserError(
            f"{path} cannot be read: {error.strerror or error}. Expected a bundle, zip or folder."
        ) from error
    _refuse_broken(path, bundle)
    _look_at_names(bundle.tree, imported)
    _follow_links(bundle.tree, imported)
    _find_yaml(path, bundle, imported)
    _own_copy(bundle, imported)
    _find_texts(bundle, imported)
    _find_programs_and_data(bundle, imported)
    return bundle


def _refuse_broken(path: Path, bundle: Bundle) -> None:
    """Raise UserError where the zip, or a file in it, cannot be unpacked."""
    archive = bundle.archive
    problems = [f"{path}: {member or 'the zip'}: {reason}." for member, reason in archive.failures]
    problems += [f"{path}: {name}: expands more than 200 times, to over 2 GiB (a zip bomb)." for name in archive.bombs]
    if path.is_file() and archive.is_bomb(path.stat().st_size):
        problems.append(f"{path}: expands more than 200 times, to over 2 GiB (a zip bomb).")
    raise_all(problems, "Nothing was written. Expected a zip that can be unpacked, or the folder of a bundle.")


def _look_at_names(tree: Node, imported: Imported) -> None:
    """Take the backslashes that Windows' zips have in their names for slashes.

    Raises:
        UserError: names that no project can keep.
    """
    named = [(name, node) for name, node in tree.walk() if "\\" in name]
    for name, node in named:
        above = tree.find(name.rpartition("/")[0]) or tree
        if isinstance(above, Node) and above.children:
            above.children.pop(name.rpartition("/")[2], None)
        put(tree, name.replace("\\", "/"), node)
    if named:
        more = f", as in {len(named) - 1} others" * (len(named) > 1)
        imported.changed.append(f"{named[0][0]}: a backslash in a name is taken for a slash{more}")
    problems = []
    for name in tree.names():
        if not is_encodable(name):
            problems.append(f"{name!a}: this name is not UTF-8. Give it another one.")
    raise_all(problems, "Nothing was written: a build refuses such names.")


def _follow_links(tree: Node, imported: Imported) -> None:
    """Put what a symbolic link in the zip leads to in its place; Codabench makes a text file of it."""
    for name, node in list(tree.files()):
        if not node.is_link:
            continue
        target = posixpath.join(posixpath.dirname(name), node.read(MAX_BYTES).decode("utf-8", "replace"))
        found = tree.find(posixpath.normpath(target))
        if isinstance(found, Node) and found is not tree and not f"{name}/".startswith(f"{target}/"):
            put(tree, name, found)
            imported.changed.append(f"{name}: is a link, and becomes what it leads to, {posixpath.normpath(target)}")
        else:
            imported.absent.append(f"{name}: is a link to {target}, which is not in the bundle")


def _find_yaml(path: Path, bundle: Bundle, imported: Imported) -> None:
    """Put competition.yaml at the root, where it is in a folder or misspelt, and read it without tags of Python."""
    if not isinstance(bundle.tree.find(YAML_NAME), Node):
        name = _the_nearest_yaml(path, bundle)
        folder = posixpath.dirname(name)
        if folder:
            bundle.archive.tree = _folder(bundle.tree, folder)
            imported.changed.append(f"{folder}/: is taken for the bundle; there is no {YAML_NAME} above it")
        file = posixpath.basename(name)
        if file != YAML_NAME:
            put(bundle.tree, YAML_NAME, _folder(bundle.tree, file))
            imported.changed.append(f"{file}: is taken for {YAML_NAME}")
    imported.original = _folder(bundle.tree, YAML_NAME).read(MAX_BYTES + 1)
    data = _repaired(imported.original, imported)
    try:
        bundle.document, bundle.unreadable = read_yaml(data), None
    except UnreadableYamlError as error:
        expected = "" if "Expected" in str(error) else " Expected YAML in UTF-8."
        raise UserError(f"{path}: {error.place(YAML_NAME)}: {error}.{expected}") from error
    if data != imported.original:
        put(bundle.tree, YAML_NAME, file_of(data))
    check_top(bundle, f"{path}: {YAML_NAME}")


def _repaired(data: bytes, imported: Imported) -> bytes:
    """Return a YAML text without tags of Python, where it cannot be read with them."""
    try:
        read_yaml(data)
    except UnreadableYamlError:
        if PYTHON_TAG.search(data):
            imported.changed.append(f"{YAML_NAME}: tags such as !!python/unicode are left out")
            return PYTHON_TAG.sub(b"", data)
    return data


def _the_nearest_yaml(path: Path, bundle: Bundle) -> str:
    """The one file that is meant to be competition.yaml; raises UserError where there is none, or are several."""
    names = mistaken_for_yaml(bundle.tree.names())
    if (path / "bundle.yaml").is_file():
        raise UserError(f"{path}: this is a declaration already. Build it: gen-bundle {path}")
    if not names:
        raise UserError(f"{path}: there is no {YAML_NAME}. Expected the zip or the folder of a bundle.")
    nearest = [name for name in names if name.count("/") == names[0].count("/")]
    if len(nearest) > 1:
        raise UserError(
            f"{path}: there is no {YAML_NAME}, but {', '.join(nearest)}. Give the folder or zip of one bundle."
        )
    return nearest[0]


def _folder(tree: Node, name: str) -> Node:
    """Return what is there under a name that was found."""
    found = tree.find(name)
    return found if isinstance(found, Node) else Node(children={})


def put(tree: Node, name: str, node: Node) -> None:
    """Let a name lead to a file, or to what a folder holds now; nothing where a file is in the way."""
    if node.children is not None:
        node = Node(children=dict(node.children))  # a copy: it may be put below itself
    folder = tree
    *above, last = parts_of(name) or [""]
    for part in above:
        if folder.children is not None:
            folder = folder.children.setdefault(part, Node(children={}))
    if folder.children is not None and last:
        folder.children[last] = node


def _own_copy(bundle: Bundle, imported: Imported) -> None:
    """Give the bundle a document in which values can be replaced; say what is nearly right in it, and put it right."""
    if bundle.document is None:
        return
    document = dict(bundle.yaml)
    if "leaderboards" not in document and isinstance(document.get("leaderboard"), list):
        document["leaderboards"] = document.pop("leaderboard")
        imported.changed.append("leaderboard: its list is taken for leaderboards")
    for name in ("tasks", "phases", "solutions"):
        value = document.get(name)
        if isinstance(value, list):
            document[name] = [_copied(item) for item in value]
        elif isinstance(value, dict):
            document[name] = {key: _copied(item) for key, item in value.items()}
    bundle.document = replace(bundle.document, value=document)
    for solution in bundle.entries("solutions"):
        if "key" in solution.value and isinstance(bundle.find(solution.get("path")), Node):
            cast("dict[Any, Any]", solution.value).pop("key")
            imported.changed.append(
                f"{dotted(solution.at)}: its file is in the bundle; its key on the server is left out"
            )


def _copied(item: Any) -> Any:
    return dict(item) if isinstance(item, dict) else item


def _find_texts(bundle: Bundle, imported: Imported) -> None:
    """Let the names of pages and logo lead to files of the bundle, which are looked for in all folders."""
    for page in page_files(bundle):
        if page.found is None:
            _find_text(bundle.tree, imported, "page", page.path, NO_PAGE)
    if bundle.format == "v1" and "terms" not in bundle.mapping(("html",)):
        no_terms = f"{SCAFFOLD_TEXT}: there were no terms in the bundle.\n".encode()
        _find_text(bundle.tree, imported, "page", "terms.md", no_terms)
    logo = bundle.yaml.get("image")
    if bundle.find(logo) is None:
        title = as_text(bundle.yaml.get("title")) or ""
        _find_text(bundle.tree, imported, "logo", logo, placeholder_logo("logo", title))


def _find_programs_and_data(bundle: Bundle, imported: Imported) -> None:
    """Name each program and data as it is called in the bundle, or else as something that says what is missing.

    They are looked for only under nearly the same name, since they decide.
    """
    for use in CompetitionYaml(bundle.now, bundle.document).competition.uses():
        found = bundle.tree.find(use.path) if isinstance(use.path, str) else None
        on_server = found is None and isinstance(use.path, str) and is_uuid(use.path)
        if on_server or (isinstance(found, Node) and found is not bundle.tree):
            continue
        name = _meant(bundle.tree, str(use.path))
        if name:
            imported.changed.append(f"{use.role}: {name} is taken for {use.path}")
        else:
            name = put_absent(bundle.tree, use.path, use.role)
        holder = cast("dict[Any, Any]", bundle.mapping(use.at[:-1]))
        holder[use.at[-1]] = name


def put_absent(tree: Node, path: Any, role: str) -> str:
    """Put what stands for a program or data that is not in the bundle into it; returns its name there."""
    parts = [part.strip() for part in str(path).split("/") if part.strip(" .")] if isinstance(path, str) else []
    name = "/".join(parts) or role
    while tree.find(name) is not None or not is_encodable(name) or tree.open_error(name):
        name = f"{role}-{ABSENT.lower()}{len(name)}"
    put(tree, name, Node(children={ABSENT: file_of(str(path).encode(errors="replace"))}))
    return name


def _find_text(tree: Node, imported: Imported, what: str, name: Any, instead: bytes) -> None:
    if not isinstance(name, str):
        return
    last = posixpath.basename(name.rstrip("/")).lower()
    same = [path for path, _ in tree.files() if posixpath.basename(path).lower() == last]
    meant = _meant(tree, name) or (same[0] if len(same) == 1 else None)
    if meant:
        put(tree, name, _folder(tree, meant))
        imported.changed.append(f"{what} {name}: {meant} is taken for it")
    else:
        put(tree, name, file_of(instead))
        imported.absent.append(f"{what} {name}: a placeholder is in its place")


def _meant(tree: Node, name: str) -> str | None:
    """The file or folder whose name differs in case or in .zip alone."""
    return tree.nearest(name.replace("\\", "/").strip().removeprefix("./"))
