"""A bundle, imported and built again."""

from pathlib import Path

from gen_bundle.author.importing.importing import import_bundle
from gen_bundle.author.importing.opening import Imported
from gen_bundle.build.building import BuildRequest, build
from gen_bundle.cli.diff import diff
from gen_bundle.look.difference.changes import Difference
from tests.generator.check.drafts import Draft


def written(draft: Draft, folder: Path) -> Path:
    """The draft's zip."""
    folder.mkdir(exist_ok=True)
    path = folder / "bundle.zip"
    path.write_bytes(draft.as_zip())
    return path


def imported(draft: Draft, folder: Path) -> Imported:
    """What is said of the draft's zip; its project is `folder/project`."""
    return import_bundle(written(draft, folder), folder / "project")


def built(project: Path) -> Path:
    """The bundle of a project, also of one that cannot work."""
    out = project.with_name(f"{project.name}-built.zip")
    build(BuildRequest(str(project), out, force=True))
    return out


def round_trip(bundle: Path, folder: Path) -> tuple[Imported, list[Difference]]:
    """What the import says of a bundle, and in what the build of its project differs from it."""
    said = import_bundle(bundle, folder / "project")
    assert [fault for fault in said.faults if fault.startswith("bundle.yaml")] == []
    found = diff(str(bundle), str(built(folder / "project")))
    return said, [one for one in found if one.what != "what Codabench makes of it"]
