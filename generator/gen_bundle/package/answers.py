"""What a scoring package's organiser verbs answer, read strictly: a wrong answer is named by verb and field."""

from typing import Annotated, Any, Generic, Required, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, with_config
from typing_extensions import TypedDict

STRICT = ConfigDict(extra="forbid", strict=True)
T = TypeVar("T")


@with_config(STRICT)
class Progress(TypedDict):
    """How far a verb is: the step, and how much of it is done."""

    step: str
    done: int
    total: int


class Reply(BaseModel, Generic[T]):
    """A line of the organiser process: what a verb answers, what the organiser must fix, a bug, or progress."""

    model_config = STRICT

    answer: Annotated[T, Field(default=None)]  # left out, not null, where there is none
    messages: list[str] | None = None
    traceback: str | None = None
    progress: Progress | None = None


@with_config(STRICT)
class Remarks(TypedDict):
    """Of `prepare` and `check_reference`: what the organiser should know of the data."""

    warnings: list[str]


@with_config(STRICT)
class SecretFile(TypedDict, total=False):
    """A reference file that participants must not have, and what in it must not be found anywhere else.

    `name` may hold `*`. `columns` are the secret columns of its table, or the fields of its JSON, and `key` those that
    identify a row (of JSON, if left out, the key of the object); `public` are columns that participants may have. With
    `lines` every line is secret.
    """

    name: Required[str]
    key: list[str]
    columns: list[str]
    public: list[str]
    lines: bool


@with_config(STRICT)
class Secrets(TypedDict):
    """Of `secrets`: where in the reference data there is gold; these names travel in the scoring program."""

    files: list[SecretFile]


@with_config(STRICT)
class TaskColumns(TypedDict):
    """Of `columns`, for each task: the metrics that a column may show, if they are named; whether it needs a model."""

    metrics: list[str] | None
    needs_model: bool


@with_config(STRICT)
class Tried(TypedDict, total=False):
    """Of `trial`: task id → column key → score of the tasks that are entered, or what is missing to score at all."""

    scores: dict[str, dict[str, float]]
    missing: str


@with_config(STRICT)
class Disclosed(TypedDict):
    """Of `disclosure`: how many gold values one participant learns for certain from the scores of a phase.

    `items` is how many there are, `decided` how many are learnt, from `columns`; `accepted` says that these are at most
    5 %. `unmeasured` are the columns of which it is not known. `decimals` are the most that leave at most 5 % (None:
    none do), then `decided_then`; likewise `submissions`.
    """

    items: int
    decided: int
    accepted: bool
    columns: list[str]
    unmeasured: list[str]
    decimals: int | None
    decided_then: int | None
    submissions: int


@with_config(ConfigDict(extra="allow", strict=True))
class Ranked(TypedDict):
    """Of `rank`: tables to be printed, remarks, and anything else that the package's rule gives."""

    tables: list[dict[str, Any]]
    notes: list[str]


REPLIES: dict[str, type[Reply[Any]]] = {
    "prepare": Reply[Remarks],
    "check_reference": Reply[Remarks],
    "manifest": Reply[dict[str, Any]],
    "template": Reply[Any],
    "secrets": Reply[Secrets],
    "columns": Reply[dict[str, TaskColumns]],
    "trial": Reply[Tried],
    "disclosure": Reply[Disclosed | None],
    "rank": Reply[Ranked],
}


def read_reply(verb: str, line: str) -> Reply[Any]:
    """A reply to a call of `verb`.

    Raises:
        ValueError: every field of the answer that is wrong, and what is expected there.
    """
    try:
        return REPLIES[verb].model_validate_json(line)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"
            for fault in error.errors(include_url=False)
        ]
        raise ValueError("; ".join(faults)) from error
