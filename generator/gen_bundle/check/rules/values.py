"""Values of the wrong type, length or range; and keys that the platform does not read, with what they may mean."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from gen_bundle.check.bundle import Bundle, once_a_bundle
from gen_bundle.check.registry import SERIALIZERS, UNPACKER, Problem, Topic
from gen_bundle.codabench import settings as known
from gen_bundle.codabench.reading import as_text, of_leaderboard, old_columns, old_phases
from gen_bundle.codabench.settings import Fault, Stage, declared_fields
from gen_bundle.codabench.versions import SOURCE
from gen_bundle.ground.yaml_document import Path, dotted

VALUES = Topic("Types and lengths of values", SERIALIZERS, reads="both", stage=Stage.SAVE_COMPETITION)


@once_a_bundle
def _faults(bundle: Bundle) -> Iterator[tuple[Fault, Problem]]:
    for field in declared_fields(bundle):
        if field.refused:
            fault, what = field.refused
            yield fault, Problem(f"{dotted(field.at)} {what}", field.at, order=field.order, stage=field.stage)


def _fields_with(fault: Fault, bundle: Bundle) -> Iterator[Problem]:
    return (problem for found, problem in _faults(bundle) if found == fault)


@VALUES.refused("a required key is missing")
def _field_missing(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: This field is required.` → Add the key with a value."""
    return _fields_with("missing", bundle)


@VALUES.refused("a key has no value, or a required text is missing")
def _field_null(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: This field may not be null.`
    → Give it a value; leave an optional key out altogether instead of leaving it empty.
    """
    return _fields_with("null", bundle)


@VALUES.refused("a required text is empty or blank")
def _field_blank(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: This field may not be blank.` → Write a text; blanks around it do not count."""
    return _fields_with("blank", bundle)


@VALUES.refused("a text is longer than its field")
def _field_too_long(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: Ensure this field has no more than … characters.` → Shorten the text."""
    return _fields_with("long", bundle)


@VALUES.refused("a value that YAML does not read as text")
def _field_not_a_text(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: Not a valid string.`
    → Put the value in quotes: YAML does not read bare yes, no, on, off, true, false and dates as text.
    Example: not `title: yes`, but `title: "yes"`.
    """
    return _fields_with("text", bundle)


@VALUES.refused("a text contains a NUL character or half of a surrogate pair")
def _field_nul_character(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: Null characters are not allowed.` or `… Surrogate characters …`
    → Remove the character.
    """
    return _fields_with("nul", bundle)


@VALUES.refused("a value that is neither true nor false")
def _field_not_boolean(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: Must be a valid boolean.` → Write true or false."""
    return _fields_with("boolean", bundle)


@VALUES.refused("a value that is not a whole number")
def _field_not_integer(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: A valid integer is required.` → Write a whole number."""
    return _fields_with("integer", bundle)


@VALUES.refused("a number is too small or too large")
def _field_out_of_range(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: Ensure this value is greater (less) than or equal to ….`
    → Choose a number within the bounds.
    """
    return _fields_with("range", bundle)


@VALUES.refused("a word that is not one of those allowed")
def _field_not_a_choice(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `…: "…" is not a valid choice.`
    → Use one of the allowed words, spelled exactly like that.
    """
    return _fields_with("choice", bundle)


@VALUES.refused("the contact is not an e-mail address", reads="v2")
def _field_not_an_email(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `contact_email: Enter a valid email address.`
    → Give exactly one address, without a name around it.
    """
    return _fields_with("email", bundle)


# The stored name of the upload is "<user> - competition_bundle - <title>", in at most 255 characters.
LONGEST_STORED_TITLE = 222


@VALUES.refused(
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


KEYS = Topic("Keys that are not read", f"{UNPACKER} (the keys that are read)", reads="both")
# What people call a task's files who do not remember the right key; keys that are nearly right are found without.
OTHER_NAMES = {
    "reference_data": ("reference", "ref", "ref_data", "ground_truth", "gold", "truth"),
    "ingestion_program": ("ingestion", "ingest"),
    "input_data": ("input", "inputs"),
}


def _mappings(bundle: Bundle) -> Iterator[tuple[Path, str, Mapping[Any, Any], frozenset[str]]]:
    """Every mapping whose keys are read: where it is, what it is called, the mapping, and the keys that are read."""
    if bundle.format != "v2":
        yield from _old_mappings(bundle)
        return
    yield (), "competition.yaml", bundle.yaml, known.TOP_KEYS
    for name, keys in (*known.LISTS.items(), ("leaderboards", known.BOARD)):
        for entry in bundle.entries(name):
            yield entry.at, f"{name}[{entry.position}]", entry.value, keys
    for board in bundle.entries("leaderboards"):
        for column in bundle.entries(*board.at, "columns"):
            yield column.at, f"columns[{column.position}]", column.value, known.COLUMN


def _old_mappings(bundle: Bundle) -> Iterator[tuple[Path, str, Mapping[Any, Any], frozenset[str]]]:
    yield (), "competition.yaml", bundle.yaml, known.OLD_TOP_KEYS
    for at, phase in old_phases(bundle):
        yield at, f"phase {at[1]}", phase, known.OLD_PHASE
    board = bundle.yaml.get("leaderboard")
    if isinstance(board, Mapping):
        yield ("leaderboard",), "leaderboard", board, known.OWN | {"leaderboards", "columns"}
    for name, one in of_leaderboard(bundle.yaml, "leaderboards").items():
        if isinstance(one, Mapping):
            yield ("leaderboard", "leaderboards", name), f"leaderboard {name}", one, known.OWN | {"label", "rank"}
    for name, column in old_columns(bundle.yaml):
        yield ("leaderboard", "columns", name), f"column {name}", column, known.OLD_COLUMN


def _ignored(bundle: Bundle) -> Iterator[tuple[Path, str, Any, frozenset[str]]]:
    for at, owner, mapping, keys in _mappings(bundle):
        for key, value in mapping.items():
            named_private = isinstance(key, str) and key.startswith(("x-", "_", "."))
            if key in keys or named_private:
                continue
            # a key that only defines values for aliases
            if bundle.document is None or not bundle.document.is_anchor_holder((*at, key)):
                yield (*at, key), owner, value, keys


def _file_key(at: Path) -> str | None:
    """The file key of a task that a misspelt key stands for."""
    key = str(at[-1]).lower()
    for right, others in OTHER_NAMES.items():
        if key in others or get_close_matches(key, [right], cutoff=0.8):
            return right
    return None


def _lost_file(bundle: Bundle, at: Path) -> str | None:
    """The file that a task lacks because of a misspelt key."""
    owners = "tasks" if bundle.format == "v2" else "phases"
    if len(at) != 3 or at[0] != owners:
        return None
    right = _file_key(at)
    task = next((task for task in bundle.competition.tasks if task.at == at[:2]), None)
    if right is None or task is None or right in task.files:
        return None
    needed = right != "input_data" or "ingestion_program" in task.files
    return right if needed else None


@KEYS.broken("a task's file under a key that is not read")
def _file_key_misspelt(bundle: Bundle) -> Iterator[Problem]:
    """The key is ignored: the reference data, input data or ingestion program is missing when it is needed.
    → Use exactly reference_data, input_data or ingestion_program.
    Example: not `reference: ref`, but `reference_data: ref`.
    """
    for at, owner, _, _ in _ignored(bundle):
        right = _lost_file(bundle, at)
        if right is not None:
            yield Problem(f"{at[-1]} in {owner} is ignored; {right} is probably meant", at)


@KEYS.trap("a key that is not read")
def _key_ignored(bundle: Bundle) -> Iterator[Problem]:
    """It is silently ignored, and the default applies.
    → Correct the spelling, move the key to where it is read, or set it in the editor after the upload.
    """
    of_old_server: dict[str, list[str]] = {}
    first: Path = ()
    for at, owner, value, keys in _ignored(bundle):
        if _changes_nothing(at, value, keys) or _lost_file(bundle, at) is not None:
            continue
        right = _right_name(at, keys)
        if right is not None or bundle.format == "v2":
            hint = f"; {right} is read" if right else ""
            yield Problem(f"{at[-1]} in {owner} is ignored{hint}", at)
        else:
            first = first or at
            of_old_server.setdefault(owner, []).append(str(at[-1]))
    if of_old_server:
        listed = "; ".join(f"in {owner} {', '.join(names)}" for owner, names in of_old_server.items())
        yield Problem(f"keys that only CodaLab read are ignored: {listed}", first)


def _right_name(at: Path, keys: frozenset[str]) -> str | None:
    """The key that is read and that this one, misspelt or of the old format, stands for."""
    key = str(at[-1])
    if known.NEW_NAMES.get(key) in keys:
        return known.NEW_NAMES[key]
    return next(iter(get_close_matches(key.lower(), sorted(keys), n=1, cutoff=0.75)), None)


def _changes_nothing(at: Path, value: Any, keys: frozenset[str]) -> bool:
    """Whether a competition is the same with and without a key that is not read."""
    if value is False:
        key = str(at[-1])
        return (
            key not in known.FALSE_COUNTS and known.NEW_NAMES.get(key, _right_name(at, keys)) not in known.ON_BY_DEFAULT
        )
    return value is None or value in ("", [], {})


@KEYS.note("a key that is not read, with a value that changes nothing")
def _key_ignored_without_harm(bundle: Bundle) -> Iterator[Problem]:
    """It is ignored. → Delete it."""
    for at, owner, value, keys in _ignored(bundle):
        if _changes_nothing(at, value, keys) and _lost_file(bundle, at) is None:
            yield Problem(f"{at[-1]} in {owner} is ignored", at)
