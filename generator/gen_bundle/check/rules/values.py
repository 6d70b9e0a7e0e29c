"""Values of the wrong type, length or range, wherever the platform validates a field."""

from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.registry import SERIALIZERS, Check, Problem, Topic
from gen_bundle.codabench.fields import Fault, as_text, fault_of, fault_words
from gen_bundle.codabench.serializer_fields import declared_fields
from gen_bundle.codabench.stages import Stage
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.codabench.yaml_document import dotted

VALUES = Topic("Types and lengths of values", SERIALIZERS, reads="both", stage=Stage.SAVE_COMPETITION)


@once_a_bundle
def _faults(bundle: Bundle) -> Iterator[tuple[Fault, Problem]]:
    for field in declared_fields(bundle):
        if fault := fault_of(field.kind, field.value):
            what = f"{dotted(field.at)} {fault_words(field.kind, fault, field.value)}"
            yield fault, Problem(what, field.at, order=field.order, stage=field.stage)


def _fields_with(fault: Fault) -> Check:
    return lambda bundle: (problem for found, problem in _faults(bundle) if found == fault)


VALUES.refused(
    "field-missing",
    "a required key is missing",
    "The upload ends with `…: This field is required.` → Add the key with a value.",
)(_fields_with("missing"))

VALUES.refused(
    "field-null",
    "a key has no value, or a required text is missing",
    "The upload ends with `…: This field may not be null.` "
    "→ Give it a value; leave an optional key out altogether instead of leaving it empty.",
)(_fields_with("null"))

VALUES.refused(
    "field-blank",
    "a required text is empty or blank",
    "The upload ends with `…: This field may not be blank.` → Write a text; blanks around it do not count.",
)(_fields_with("blank"))

VALUES.refused(
    "field-too-long",
    "a text is longer than its field",
    "The upload ends with `…: Ensure this field has no more than … characters.` → Shorten the text.",
)(_fields_with("long"))

VALUES.refused(
    "field-not-a-text",
    "a value that YAML does not read as text",
    "The upload ends with `…: Not a valid string.` "
    "→ Put the value in quotes: YAML does not read bare yes, no, on, off, true, false and dates as text.",
)(_fields_with("text"))

VALUES.refused(
    "field-nul-character",
    "a text contains a NUL character or half of a surrogate pair",
    "The upload ends with `…: Null characters are not allowed.` or `… Surrogate characters …` → Remove the character.",
)(_fields_with("nul"))

VALUES.refused(
    "field-not-boolean",
    "a value that is neither true nor false",
    "The upload ends with `…: Must be a valid boolean.` → Write true or false.",
)(_fields_with("boolean"))

VALUES.refused(
    "field-not-integer",
    "a value that is not a whole number",
    "The upload ends with `…: A valid integer is required.` → Write a whole number.",
)(_fields_with("integer"))

VALUES.refused(
    "field-out-of-range",
    "a number is too small or too large",
    "The upload ends with `…: Ensure this value is greater (less) than or equal to ….` "
    "→ Choose a number within the bounds.",
)(_fields_with("range"))

VALUES.refused(
    "field-not-a-choice",
    "a word that is not one of those allowed",
    'The upload ends with `…: "…" is not a valid choice.` → Use one of the allowed words, spelled exactly like that.',
)(_fields_with("choice"))

VALUES.refused(
    "field-not-an-email",
    "the contact is not an e-mail address",
    "The upload ends with `contact_email: Enter a valid email address.` "
    "→ Give exactly one address, without a name around it.",
    reads="v2",
)(_fields_with("email"))


# The stored name of the upload is "<user> - competition_bundle - <title>", in at most 255 characters.
LONGEST_STORED_TITLE = 222


@VALUES.refused(
    "title-too-long-to-store",
    "a title that is valid, but too long for the name of the upload",
    "The upload ends with `value too long for type character varying(255)`, although the competition was created "
    "and stays behind. "
    f"→ Keep the title to {LONGEST_STORED_TITLE} characters; fewer if your user name has more than nine.",
    source=f"{SOURCE}, src/apps/competitions/tasks.py (name of the uploaded dataset)",
    stage=Stage.STORE,
)
def _title_too_long_to_store(bundle: Bundle) -> Iterator[Problem]:
    title = as_text(bundle.yaml.get("title")) or ""
    if LONGEST_STORED_TITLE < len(title) <= 256:
        yield Problem(f"title has {len(title)} characters", ("title",))
