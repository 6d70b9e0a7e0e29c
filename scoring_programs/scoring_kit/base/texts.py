"""Words that messages and pages share. Runs on Python 3.9 with the standard library alone."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 submission` and `2 submissions`.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
