"""Where the declarations and scoring programs lie: beside the checkout's `generator/`, or inside an installed wheel."""

import json
from pathlib import Path

_PACKAGED = Path(__file__).resolve().parent / "resources"
_CHECKOUT = Path(__file__).resolve().parents[2]


def resource(name: str) -> Path:
    """The folder `bundles`, `scoring_programs`, `docker` or `requirements` of this installation."""
    return (_PACKAGED if _PACKAGED.is_dir() else _CHECKOUT) / name


SCAFFOLD = Path(__file__).resolve().parent / "scaffold"
"""The templates of what `gen-bundle new` writes."""


def competitions() -> dict[str, Path]:
    """The folders of the competitions that come with the tool, by name."""
    return {path.parent.name: path.parent for path in sorted(resource("bundles").glob("*/bundle.yaml"))}


def install_command(extra: str) -> str:
    """How an extra of the tool is installed: from the folder, wheel or repository that the tool itself came from.

    As `requirement` of `scoring_kit.missing_packages`, which the press may not import.
    """
    # Rarely needed, and slow to import.
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    recorded = metadata.distribution("gen-bundle").read_text("direct_url.json")
    if recorded is None:  # it came from an index
        return f'pip install "gen-bundle[{extra}]"'
    origin = json.loads(recorded)
    url = urlsplit(origin["url"])
    if url.scheme == "file":
        return f'pip install "{url2pathname(url.path)}[{extra}]"'
    version = origin.get("vcs_info")
    source = f"{version['vcs']}+{origin['url']}@{version['commit_id']}" if version else origin["url"]
    return f'pip install "gen-bundle[{extra}] @ {source}"'
