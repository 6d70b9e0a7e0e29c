"""Where gen-bundle itself was installed from: its extras come from the same place."""

import json
from typing import Optional


def requirement(extra: str) -> Optional[str]:
    """gen-bundle with an extra, as pip takes it, from where it was installed; None where it is not installed.

    Source: https://packaging.python.org/specifications/direct-url/ (absent for what came from an index).
    """
    # Rarely needed, and slow to import.
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        recorded = metadata.distribution("gen-bundle").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    if recorded is None:
        return f"gen-bundle[{extra}]"
    origin = json.loads(recorded)
    url = urlsplit(origin["url"])
    if url.scheme == "file":
        return f"{url2pathname(url.path)}[{extra}]"
    version = origin.get("vcs_info")
    source = f"{version['vcs']}+{origin['url']}@{version['commit_id']}" if version else origin["url"]
    return f"gen-bundle[{extra}] @ {source}"
