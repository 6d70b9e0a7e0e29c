"""The order in which the platform reads a bundle."""

from enum import IntEnum


class Stage(IntEnum):
    """Where the platform is when it meets a fault; it stops at the first one."""

    ARCHIVE = 0
    YAML = 1
    VERSION = 2
    PAGES = 3
    TASKS = 4
    SOLUTIONS = 5
    TERMS = 6
    IMAGE = 7
    QUEUE = 8
    PHASES = 9
    PHASE_ORDER = 10
    LEADERBOARDS = 11
    SAVE_TASKS = 12
    SAVE_SOLUTIONS = 13
    SAVE_LEADERBOARDS = 14
    SAVE_PHASES = 15
    SAVE_COMPETITION = 16
    STORE = 17
    LATER = 18
