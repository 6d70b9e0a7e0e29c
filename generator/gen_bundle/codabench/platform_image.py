"""The image in which every scoring program without a model runs, unless a competition names its own.

Source: Dockerfiles/Dockerfile-py312 of the public repository codalab/codalab-dockers, commit dd2e27e (3 April 2026). It
was read there, and the image itself not pulled. The tag may move: a program must not depend on exact versions, and its
signature names what it met.
"""

PLATFORM_IMAGE = "codalab/codalab-legacy:py312"
PYTHON = "3.12"
"""On Debian 12 (python:3.12-slim-bookworm), as root, with tini for an entry point, which passes the command on."""
PACKAGES = {
    "cython": "3.0.12",
    "imutils": "0.5.4",
    "matplotlib": "3.8.4",
    "numba": "0.61.2",
    "numpy": "1.26.4",
    "pandas": "2.2.3",
    "psutil": "7.0.0",
    "pyyaml": "6.0.2",
    "scikit-learn": "1.5.1",
    "scipy": "1.11.4",
    "threadpoolctl": "3.6.0",
}
"""What its Dockerfile pins, by the names of the Python package index."""
MODULES = frozenset(
    {
        *("Cython", "PIL", "contourpy", "cycler", "dateutil", "fontTools", "imutils", "joblib", "kiwisolver"),
        *("llvmlite", "matplotlib", "mpl_toolkits", "numba", "numpy", "packaging", "pandas", "psutil", "pyparsing"),
        *("pytz", "scipy", "six", "sklearn", "threadpoolctl", "tzdata", "yaml"),
    }
)
"""What can be imported from these and from what pip installs with them."""
