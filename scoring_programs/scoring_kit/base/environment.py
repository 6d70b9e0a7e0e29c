"""A program's surroundings where it runs: the variables that it gets from us, and packages that are missing."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Dict, Mapping, Optional

KEPT = frozenset(
    {
        *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH"),
        *("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"),
        *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
        *("HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_DATASETS_CACHE", "HF_DATASETS_OFFLINE"),
        *("TRANSFORMERS_CACHE", "TRANSFORMERS_OFFLINE", "SENTENCE_TRANSFORMERS_HOME", "TORCH_HOME", "NLTK_DATA"),
        # Without these no Python starts on Windows, or finds its home and temporary folders.
        *("SYSTEMROOT", "PATHEXT", "USERPROFILE", "TEMP", "TMP"),
    }
)
"""Variables that find programs, libraries, devices, models and room for temporary files: one list of full names.

Beside HF_HOME there may be HF_TOKEN. What is not here does not pass: tokens of sites and hubs, keys of clouds, agents
of keys.
"""


def kept(ours: Mapping[str, str]) -> Dict[str, str]:
    """Return what passes of an environment to a program that we start."""
    return {name: value for name, value in ours.items() if name in KEPT}


EXTRAS = {
    "score": {"ir_measures", "jiwer", "nibabel", "numpy", "rouge_score", "sacrebleu", "scipy", "seqeval", "sklearn"},
    "models": {"bert_score", "nltk", "pandas", "safetensors", "sentencepiece", "tokenizers", "torch", "transformers"},
}
"""Extra of gen-bundle → the packages that it brings, by their names in Python."""
ON_AN_INDEX = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
IN_A_CONTAINER = Path("/app/program")


def missing_package(error: ModuleNotFoundError) -> Optional[str]:
    """Return the name of the package that is not there; None where it is, and the import of a module is wrong."""
    top = (error.name or "").partition(".")[0]
    return top if top and top not in sys.modules and importlib.util.find_spec(top) is None else None


def what_is_missing(package: str) -> str:
    """That it is missing, and how to get it: into the image that runs this program, or else onto this machine."""
    if Path(sys.argv[0]).resolve().is_relative_to(IN_A_CONTAINER):
        return f"The Python package {package} is missing from the image that runs this program."
    wanted, is_known = ON_AN_INDEX.get(package, package), package in ON_AN_INDEX
    for extra, packages in EXTRAS.items():
        if package in packages:
            is_known = True
            if source := requirement(extra):
                wanted = f'"{source}"'
    # of another name an index may have somebody's trap for those who mistype
    advice = "Install it" if is_known else "If that is its right name, install it"
    return f"The Python package {package} is missing on this machine. {advice}: pip install {wanted}."


def requirement(extra: str) -> Optional[str]:
    """gen-bundle with an extra, as pip takes it, from where it was installed; None where it is not installed.

    Source: https://packaging.python.org/specifications/direct-url/ (absent for what came from an index).
    """
    from importlib import metadata  # rarely needed, and slow to import

    try:
        recorded = metadata.distribution("gen-bundle").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return None
    if recorded is None:
        return f"gen-bundle[{extra}]"
    origin = json.loads(recorded)
    source = origin["url"]
    if version := origin.get("vcs_info"):
        source = f"{version['vcs']}+{source}@{version['commit_id']}"
    return f"gen-bundle[{extra}] @ {source}"
