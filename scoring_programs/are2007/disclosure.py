"""How many scored items stand behind a figure, so that none gives single gold links away."""


def scored_items(gold: int, answered: int) -> int:
    """The smaller number, because of a single answer a figure would tell whether it is right; without any, the gold."""
    return min(gold, answered) if answered else gold
