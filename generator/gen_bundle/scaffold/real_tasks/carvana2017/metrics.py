"""Masks as run lengths: pairs of a first pixel, from 1, and a length, in rising order."""


def check(rows):
    return [f"{row['img']}: rle_mask {problem}" for row in rows for problem in [fault(row["rle_mask"])] if problem]


def fault(text):
    cells = text.split()
    if len(cells) % 2 or not all(cell.isdecimal() for cell in cells):
        return "is no list of pairs. Expected: first pixel and length, such as 1 3 10 5"
    end = 0
    for start, length in zip(map(int, cells[::2]), map(int, cells[1::2])):
        if start <= end or length < 1:
            return f"has the run {start} {length} before the end of the one in front, or an empty one"
        end = start + length - 1
    return ""


def dice(gold, predicted, **_):
    found = []
    for right, answered in zip(gold, predicted):
        one, other = pixels(right["rle_mask"]), pixels(answered["rle_mask"])
        found.append(2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0)
    return sum(found) / len(found)


def pixels(text):
    cells = list(map(int, text.split()))
    found = set()
    for start, length in zip(cells[::2], cells[1::2]):
        found.update(range(start, start + length))
    return found
