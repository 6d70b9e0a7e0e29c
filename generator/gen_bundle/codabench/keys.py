"""The keys that the platform reads, for each kind of mapping in competition.yaml."""

from gen_bundle.codabench.competition import PHASE_FILES, TASK_FILES
from gen_bundle.codabench.serializer_fields import OLD_TOP_FIELDS, PHASE_FLAGS, TOP_FIELDS

LIMITS = ("max_submissions_per_day", "max_submissions", "execution_time_limit")
# `id` is never reported: tools use it for their own purposes.
OWN = frozenset(["id"])
PAGE = OWN | {"title", "file", "index"}
TASK = OWN | {"index", "key", "name", "description", "ingestion_only_during_scoring", *TASK_FILES}
SOLUTION = OWN | {"index", "key", "name", "description", "tasks", "path"}
# `gold: public` tells the check that a phase's reference data are not secret.
PHASE = OWN | {"gold", "index", "name", "description", "start", "end", "tasks", "auto_migrate_to_this_phase"}
PHASE |= {*PHASE_FLAGS, *LIMITS, *PHASE_FILES}
BOARD = OWN | {"index", "title", "key", "columns", "primary_index", "hidden", "submission_rule"}
COLUMN = OWN | {"title", "key", "index", "sorting", "precision", "hidden", "computation", "computation_indexes"}
TOP_KEYS = OWN | {"version", "image", "terms", "pages", "tasks", "solutions", "phases", "leaderboards"}
# `milestones` are the dates beside the phases that a preview shows.
TOP_KEYS |= {"fact_sheet", "milestones", "queue", *(key for key, *_ in TOP_FIELDS)}

OLD_TOP_KEYS = OWN | {"version", "image", "html", "phases", "leaderboard", "queue", "competition_docker_image"}
OLD_TOP_KEYS |= {"has_registration", "end_date", *OLD_TOP_FIELDS}
OLD_PHASE = OWN | {"phasenumber", "label", "description", "start_date", "auto_migration"}
OLD_PHASE |= {"is_parallel_parent", "parent_phasenumber", "ingestion_program_only_during_scoring"}
OLD_PHASE |= {*PHASE_FLAGS, *LIMITS, *PHASE_FILES, *TASK_FILES}
# how the old server ran and drew a phase, which does not matter here
OLD_PHASE |= {"is_scoring_only", "color"}
OLD_COLUMN = OWN | {"leaderboard", "label", "rank", "sort", "numeric_format", "hidden", "title", "computed"}

# What the new format calls the keys of the old one.
NEW_NAMES = {
    "competition_docker_image": "docker_image",
    "has_registration": "registration_auto_approve",
    "enable_forum": "forum_enabled",
    "html": "pages",
    "leaderboard": "leaderboards",
    "label": "name",
    "start_date": "start",
    "end_date": "end",
    "phasenumber": "index",
    "auto_migration": "auto_migrate_to_this_phase",
    "rank": "index",
    "sort": "sorting",
    "numeric_format": "precision",
}
ON_BY_DEFAULT = frozenset(key for key, _, default, _ in TOP_FIELDS if default is True)
# Keys that are not read, and whose `false` is not what holds without them.
FALSE_COUNTS = frozenset(["has_registration", "has_max_submissions"])
