"""Ten candidates for each fact: the shape in the head of the array, with the standard library alone."""

import ast
import zipfile

FACTS = 40  # how many there are to complete
CANDIDATES = 10


def check(rows):
    with zipfile.ZipFile(rows[0]["candidates"]) as file, file.open("t_pred_top10.npy") as array:
        head = array.read(200)
    shape = ast.literal_eval(head[head.index(b"{") : head.index(b"}") + 1].decode())["shape"]
    expected = (FACTS, CANDIDATES)
    return [] if shape == expected else [f"t_pred_top10 has the shape {shape}. Expected {expected}"]
