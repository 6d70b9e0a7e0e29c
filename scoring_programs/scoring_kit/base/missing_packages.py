"""A Python package that a scoring program needs and that is not there: which one, and where it comes from."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Optional

EXTRAS = {
    "score": {"ir_measures", "jiwer", "numpy", "rouge_score", "sacrebleu", "scipy", "seqeval", "sklearn"},
    "models": {"bert_score", "nltk", "pandas", "safetensors", "sentencepiece", "tokenizers", "torch", "transformers"},
}
"""Extra of gen-bundle → the packages that it brings, by their names in Python."""
ON_AN_INDEX = {"sklearn": "scikit-learn"}
IN_A_CONTAINER = Path("/app/program")


def missing_package(error: ModuleNotFoundError) -> Optional[str]:
    """The name of the package that is not there; None where it is, and only a module of it is not: a wrong import."""
    top = (error.name or "").partition(".")[0]
    return top if top and top not in sys.modules and importlib.util.find_spec(top) is None else None


def what_is_missing(package: str) -> str:
    """That it is missing, and how to get it: into the image that runs this program, or else onto this machine."""
    if Path(sys.argv[0]).resolve().is_relative_to(IN_A_CONTAINER):
        return f"The Python package {package} is missing from the image that runs this program."
    wanted = ON_AN_INDEX.get(package, package)
    for extra, packages in EXTRAS.items():
        if package in packages and (source := requirement(extra)):
            wanted = f'"{source}"'
    return f"The Python package {package} is missing on this machine. Install it: pip install {wanted}."


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
    source = origin["url"]
    if version := origin.get("vcs_info"):
        source = f"{version['vcs']}+{source}@{version['commit_id']}"
    return f"gen-bundle[{extra}] @ {source}"
