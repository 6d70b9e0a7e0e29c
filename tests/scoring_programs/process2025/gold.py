"""Small gold files of PROCESS, and submissions to them."""

from collections.abc import Mapping, Sequence

HEADER = "Test_ID,Model1_class,Model2_class,Model3_class,Model1_MMSE,Model2_MMSE,Model3_MMSE"
NAME = "PROCESS_submission_Lab_Town.csv"

GOLD = "Test_ID,Class,MMSE\na,HC,30\nb,MCI,26\nc,Dementia,18\nd,HC,\n"


def answers(columns: Mapping[str, Sequence[object]], ids: Sequence[str] = ("a", "b", "c", "d")) -> str:
    """A submission's text: the given columns filled, the others empty."""
    names = HEADER.split(",")[1:]
    lines = [
        [item, *(str(columns[name][i]) if name in columns else "" for name in names)] for i, item in enumerate(ids)
    ]
    return "\n".join([HEADER, *(",".join(line) for line in lines)]) + "\n"


CLASSES = ("HC", "MCI", "Dementia", "HC")
SCORES = (30, 26, 18, 29)
PERFECT = answers({"Model1_class": CLASSES, "Model1_MMSE": SCORES})
