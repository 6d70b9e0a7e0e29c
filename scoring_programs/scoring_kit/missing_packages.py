"""A Python package that a scoring program needs and that is not there: which one, and where it comes from."""

import importlib.util
import sys
from pathlib import Path

SCORE = {"numpy", "scipy", "sklearn"}
MODELS = {"bert_score", "nltk", "pandas", "safetensors", "sentencepiece", "tokenizers", "torch", "transformers"}
IN_A_CONTAINER = Path("/app/program")


def missing_package(error: ModuleNotFoundError) -> str | None:
    """The name of the package that is not there; None where it is, and only a module of it is not: a wrong import."""
    top = (error.name or "").partition(".")[0]
    return top if top and top not in sys.modules and importlib.util.find_spec(top) is None else None


def what_is_missing(package: str) -> str:
    """That it is missing, and how to get it: into the image that runs this program, or else onto this machine."""
    if Path(sys.argv[0]).resolve().is_relative_to(IN_A_CONTAINER):
        return f"The Python package {package} is missing from the image that runs this program."
    extra = "score" if package in SCORE else "models" if package in MODELS else None
    source = f'pip install "gen-bundle[{extra}]"' if extra else f"pip install {package}"
    return f"The Python package {package} is missing on this machine. Install it: {source}."
