"""What a submission answers, as its reader leaves it and the tasks score it."""

from dataclasses import dataclass
from typing import FrozenSet, List, Mapping, Optional, Tuple

SELF_STATES = ("adaptive", "maladaptive")


@dataclass(frozen=True)
class PostAnswer:
    """One post's answer.

    Attributes:
        evidence: spans of each self-state as submitted, neither stripped nor freed of blank ones.
        summary: its text, empty where there is none.
        wellbeing: the predicted score, None where the submission abstains.
    """

    evidence: Mapping[str, Tuple[str, ...]]
    summary: str
    wellbeing: Optional[float]

    @property
    def spans(self) -> List[str]:
        """The spans of both self-states, stripped, blank ones dropped, duplicates kept."""
        return [span for state in SELF_STATES for span in stripped(self.evidence[state])]


@dataclass(frozen=True)
class TimelineAnswer:
    """One timeline's answer."""

    summary: str
    posts: Mapping[str, PostAnswer]

    def spans(self, state: str) -> List[str]:
        """The spans of one self-state over all posts, stripped, blank ones dropped, duplicates kept."""
        return [span for post in self.posts.values() for span in stripped(post.evidence[state])]


@dataclass(frozen=True)
class ClpsychSubmission:
    """A whole submission; every file answers all tasks, an empty answer being scored as such."""

    team: str
    submission_id: str
    timelines: Mapping[str, TimelineAnswer]
    entered: FrozenSet[str]


def stripped(spans: Tuple[str, ...]) -> List[str]:
    """Spans without the white space around them; those that become empty are dropped."""
    return [span for span in (text.strip() for text in spans) if span]
