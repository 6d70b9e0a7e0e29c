"""Tie groups: who is not significantly different from the best of the group."""

from collections.abc import Mapping, Sequence

ALPHA = 0.05


def tie_groups(order: Sequence[str], p_holm: Mapping[tuple[str, str], float]) -> dict[str, int]:
    """The number of each team's group, from 1.

    The best team that is in no group yet begins one, and every other such team joins whose difference from it is not
    significant (p after Holm at least 0.05). A team of a later group may rank before one of an earlier group, where
    the first one's difference is steadier.

    Args:
        order: the teams, best first.
        p_holm: p of every pair, by the pair in either order.
    """
    groups: dict[str, int] = {}
    for best in order:
        if best in groups:
            continue
        number = max(groups.values(), default=0) + 1
        for team in order:
            if team not in groups and (team == best or p_holm.get((best, team), p_holm.get((team, best), 0)) >= ALPHA):
                groups[team] = number
    return groups
