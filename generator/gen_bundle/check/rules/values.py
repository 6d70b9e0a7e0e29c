"""Values of the wrong type, length or range, wherever the platform validates a field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen_bundle.check.registry import SERIALIZERS, Check, Effect, Problem, Reads, rule
from gen_bundle.codabench.declared import declared_fields
from gen_bundle.codabench.fields import Fault, as_text, fault_of, fault_words
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.codabench.yaml_document import dotted

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle


@dataclass(frozen=True)
class FieldRule:
    """What a fault of a field leads to; where the platform meets it is the field's own matter."""

    id: str
    fault: Fault
    title: str
    consequence: str
    repair: str
    reads: Reads = "both"


FIELD_RULES = (
    FieldRule(
        "field-missing",
        "missing",
        "a required key is missing",
        "The upload ends with `…: This field is required.`",
        "Add the key with a value.",
    ),
    FieldRule(
        "field-null",
        "null",
        "a key has no value, or a required text is missing",
        "The upload ends with `…: This field may not be null.`",
        "Give it a value; leave an optional key out altogether instead of leaving it empty.",
    ),
    FieldRule(
        "field-blank",
        "blank",
        "a required text is empty or only blanks",
        "The upload ends with `…: This field may not be blank.`",
        "Write a text; outer blanks do not count.",
    ),
    FieldRule(
        "field-too-long",
        "long",
        "a text is longer than its field",
        "The upload ends with `…: Ensure this field has no more than … characters.`",
        "Shorten the text.",
    ),
    FieldRule(
        "field-not-a-text",
        "text",
        "a value that YAML does not read as a text",
        "The upload ends with `…: Not a valid string.`",
        "Put the value in quotes: bare yes, no, on, off, true, false and dates are no texts in YAML.",
    ),
    FieldRule(
        "field-nul-character",
        "nul",
        "a text holds a NUL character or half of a surrogate pair",
        "The upload ends with `…: Null characters are not allowed.` or `… Surrogate characters …`",
        "Take the character out.",
    ),
    FieldRule(
        "field-not-boolean",
        "boolean",
        "a value that is neither true nor false",
        "The upload ends with `…: Must be a valid boolean.`",
        "Write true or false.",
    ),
    FieldRule(
        "field-not-integer",
        "integer",
        "a value that is no whole number",
        "The upload ends with `…: A valid integer is required.`",
        "Write a whole number.",
    ),
    FieldRule(
        "field-out-of-range",
        "range",
        "a number is too small or too large",
        "The upload ends with `…: Ensure this value is greater (less) than or equal to ….`",
        "Choose a number within the bounds.",
    ),
    FieldRule(
        "field-not-a-choice",
        "choice",
        "a word that is not one of those allowed",
        'The upload ends with `…: "…" is not a valid choice.`',
        "Use one of the allowed words, written exactly so.",
    ),
    FieldRule(
        "field-not-an-email",
        "email",
        "the contact is no e-mail address",
        "The upload ends with `contact_email: Enter a valid email address.`",
        "Give exactly one address, without a name around it.",
        reads="v2",
    ),
)


def _with_fault(fault: Fault) -> Check:
    def found(bundle: Bundle) -> Iterator[Problem]:
        for field in declared_fields(bundle):
            if fault_of(field.kind, field.value) == fault:
                what = f"{dotted(field.at)} {fault_words(field.kind, fault, field.value)}"
                yield Problem(what, field.at, order=field.order, stage=field.stage)

    return found


for one in FIELD_RULES:
    rule(
        one.id,
        Effect.REFUSED,
        Stage.SAVE_COMPETITION,
        title=one.title,
        consequence=one.consequence,
        repair=one.repair,
        source=SERIALIZERS,
        reads=one.reads,
    )(_with_fault(one.fault))


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
    source=f"{SOURCE}, src/apps/competitions/tasks.py (name of the uploaded dataset)",
    reads="both",
)
def _title_too_long_to_store(bundle: Bundle) -> Iterator[Problem]:
    title = as_text(bundle.yaml.get("title")) or ""
    if LONGEST_STORED_TITLE < len(title) <= 256:
        yield Problem(f"title has {len(title)} characters", ("title",))
