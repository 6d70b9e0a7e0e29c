"""Values of the wrong type, length or range, wherever the platform validates a field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gen_bundle.check.registry import SERIALIZERS, Effect, Problem, rule
from gen_bundle.codabench.declared import FieldUse, declared_fields
from gen_bundle.codabench.fields import Choice, Fault, Integer, Text, as_text, fault_of
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle


def dotted(field: FieldUse) -> str:
    """The field's place as people write it: phases[0].name."""
    text = ""
    for key in field.at:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


def shown(value: Any, limit: int = 60) -> str:
    """A value for a message, cut to a length that can be read."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a mapping"
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _faulty(bundle: Bundle, wanted: Fault) -> Iterator[FieldUse]:
    return (field for field in declared_fields(bundle) if fault_of(field.kind, field.value) == wanted)


def _problem(field: FieldUse, what: str) -> Problem:
    return Problem(f"{dotted(field)} {what}", field.at, order=field.order, stage=field.stage)


@rule(
    "field-missing",
    Effect.REFUSED,
    Stage.SAVE_LEADERBOARDS,
    title="a required key is missing",
    consequence="The upload ends with `…: This field is required.`",
    repair="Add the key with a value.",
    source=SERIALIZERS,
    reads="both",
)
def _field_missing(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "missing"):
        yield _problem(field, "is missing")


@rule(
    "field-null",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a key has no value, or a required text is missing",
    consequence="The upload ends with `…: This field may not be null.`",
    repair="Give it a value; leave an optional key out altogether instead of leaving it empty.",
    source=SERIALIZERS,
    reads="both",
)
def _field_null(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "null"):
        yield _problem(field, "has no value (null), and needs one")


@rule(
    "field-blank",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a required text is empty or only blanks",
    consequence="The upload ends with `…: This field may not be blank.`",
    repair="Write a text; outer blanks do not count.",
    source=SERIALIZERS,
    reads="both",
)
def _field_blank(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "blank"):
        yield _problem(field, "is blank, and needs a text")


@rule(
    "field-too-long",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a text is longer than its field",
    consequence="The upload ends with `…: Ensure this field has no more than … characters.`",
    repair="Shorten the text.",
    source=SERIALIZERS,
    reads="both",
)
def _field_too_long(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "long"):
        limit = field.kind.limit if isinstance(field.kind, Text) else None
        yield _problem(field, f"has {len(as_text(field.value) or '')} characters, and at most {limit} fit")


@rule(
    "field-not-a-text",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a value that YAML does not read as a text",
    consequence="The upload ends with `…: Not a valid string.`",
    repair="Put the value in quotes: bare yes, no, on, off, true, false and dates are no texts in YAML.",
    source=SERIALIZERS,
    reads="both",
)
def _field_not_a_text(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "text"):
        yield _problem(field, f"is read as {shown(field.value)}, which is no text")


@rule(
    "field-nul-character",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a text holds a NUL character or half of a surrogate pair",
    consequence="The upload ends with `…: Null characters are not allowed.` or `… Surrogate characters …`",
    repair="Take the character out.",
    source=SERIALIZERS,
    reads="both",
)
def _field_nul_character(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "nul"):
        yield _problem(field, "holds a NUL character or half of a surrogate pair")


@rule(
    "field-not-boolean",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a value that is neither true nor false",
    consequence="The upload ends with `…: Must be a valid boolean.`",
    repair="Write true or false.",
    source=SERIALIZERS,
    reads="both",
)
def _field_not_boolean(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "boolean"):
        yield _problem(field, f"is {shown(field.value)}, and must be true or false")


@rule(
    "field-not-integer",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a value that is no whole number",
    consequence="The upload ends with `…: A valid integer is required.`",
    repair="Write a whole number.",
    source=SERIALIZERS,
    reads="both",
)
def _field_not_integer(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "integer"):
        yield _problem(field, f"is {shown(field.value)}, and must be a whole number")


@rule(
    "field-out-of-range",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a number is too small or too large",
    consequence="The upload ends with `…: Ensure this value is greater (less) than or equal to ….`",
    repair="Choose a number within the bounds.",
    source=SERIALIZERS,
    reads="both",
)
def _field_out_of_range(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "range"):
        kind = field.kind if isinstance(field.kind, Integer) else Integer()
        yield _problem(field, f"is {shown(field.value)}, and must lie between {kind.low} and {kind.high}")


@rule(
    "field-not-a-choice",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="a word that is not one of those allowed",
    consequence='The upload ends with `…: "…" is not a valid choice.`',
    repair="Use one of the allowed words, written exactly so.",
    source=SERIALIZERS,
    reads="both",
)
def _field_not_a_choice(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "choice"):
        choices = field.kind.choices if isinstance(field.kind, Choice) else ()
        yield _problem(field, f"is {shown(field.value)}; allowed are {', '.join(choices)}")


@rule(
    "field-not-an-email",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="the contact is no e-mail address",
    consequence="The upload ends with `contact_email: Enter a valid email address.`",
    repair="Give exactly one address, without a name around it.",
    source=SERIALIZERS,
)
def _field_not_an_email(bundle: Bundle) -> Iterator[Problem]:
    for field in _faulty(bundle, "email"):
        yield _problem(field, f"is {shown(field.value)}, which is no e-mail address")


# The stored name of the upload is "<user> - competition_bundle - <title>", in at most 255 characters.
LONGEST_STORED_TITLE = 222


@rule(
    "title-too-long-to-store",
    Effect.REFUSED,
    Stage.STORE,
    title="a title that is valid, but too long for the name of the upload",
    consequence="The upload ends as failed (`value too long for type character varying(255)`), although the "
    "competition was created and stays behind.",
    repair=f"Keep the title to {LONGEST_STORED_TITLE} characters, fewer with a user name of more than nine.",
    source="Codabench source @ c7dbc756, src/apps/competitions/tasks.py (name of the uploaded dataset)",
    reads="both",
)
def _title_too_long_to_store(bundle: Bundle) -> Iterator[Problem]:
    title = as_text(bundle.yaml.get("title")) or ""
    if LONGEST_STORED_TITLE < len(title) <= 256:
        yield Problem(f"title has {len(title)} characters", ("title",))
