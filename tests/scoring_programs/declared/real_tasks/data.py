"""The made-up data of each task's folder: `python -m tests.scoring_programs.declared.real_tasks.data` writes them."""

import shutil

from tests.scoring_programs.declared.real_tasks import (
    beyond_text,
    images,
    label_sets,
    labels,
    numbers,
    rankings,
    sciences,
    sets,
    sound,
    texts,
)
from tests.scoring_programs.declared.real_tasks.making import MAKERS, REAL_TASKS, Values, team

MODULES = (beyond_text, images, labels, label_sets, numbers, sciences, sets, sound, texts, rankings)
"""Where the makers are; importing them registers them."""
SEED = 2026


def data_of(name: str) -> tuple[dict[str, bytes], Values]:
    """The gold of one phase, and answers drawn at random as its baseline: file → its bytes, and what they score."""
    gold, answers, values = MAKERS[name](team(SEED, "random"))
    found = {}
    for place, files in (("data/test", gold), ("data/baselines/test/random", answers)):
        for file, content in files.items():
            found[f"{place}/{file}"] = content.encode() if isinstance(content, str) else content
    return found, values


def write(name: str) -> None:
    shutil.rmtree(REAL_TASKS / name / "data", ignore_errors=True)
    for file, content in data_of(name)[0].items():
        path = REAL_TASKS / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    for name in MAKERS:
        write(name)
