"""Which variables of the environment a program gets that we start: the one list.

Names in full: beside HF_HOME there may be HF_TOKEN. What is not here does not pass: tokens of sites and hubs, keys of
clouds, agents of keys.
"""

from typing import Dict, Mapping

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
"""What finds programs, libraries, devices, models and room for temporary files."""


def kept(ours: Mapping[str, str]) -> Dict[str, str]:
    """What passes of an environment."""
    return {name: value for name, value in ours.items() if name in KEPT}
