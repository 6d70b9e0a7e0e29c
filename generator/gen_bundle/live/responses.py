"""Answers of servers: their types, checked in one place before anything is done with them, and errors in one line.

Sources: the answers of Codabench 1.25, and the serializers of its v1.32. Only what is used here is checked; answers may
hold more.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from html import unescape
from types import GenericAlias, NoneType
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, TypeAdapter, ValidationError, create_model

from gen_bundle.ground.plain_text import one_line

LONGEST_TEXT = 300


def _date(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _rows(shape: Any) -> Any:
    return GenericAlias(list, (shape,))


def _many(shape: Any) -> Any:
    return _rows(shape) | None


def _shape(**fields: Any) -> Any:
    """Return an object with some fields; those that may be None may also be missing."""
    declared: dict[str, Any] = {}
    for name, kind in fields.items():
        may_be_missing = NoneType in get_args(kind)
        declared[name] = (kind, None if may_be_missing else ...)
    return create_model("Answer", **declared)


_Text, _Number = str | None, int | None
_Sent = Annotated[str, AfterValidator(_date)]
_Date = _Sent | None
_File = dict[str, Any] | str | None
_Identified = _shape(id=int)
_FILES = dict.fromkeys(("scoring_program", "reference_data", "input_data", "ingestion_program"), _File)
_Task = _shape(id=int, name=str, key=_Text, description=_Text, public_datasets=list[Any] | None, **_FILES)
_LIMITS = dict.fromkeys(("execution_time_limit", "max_submissions_per_day", "max_submissions_per_person"), _Number)
_Phase = _shape(
    id=int, name=str, index=_Number, description=_Text, start=_Date, end=_Date, tasks=_many(_Task), **_LIMITS
)
_Page = _shape(title=str, content=_Text, index=_Number)
_Column = _shape(key=str, index=_Number)
_Board = _shape(submission_rule=_Text, primary_index=_Number, columns=_many(_Column))
_Competition = _shape(
    id=int,
    title=_Text,
    published=bool | None,
    created_when=_Date,
    docker_image=_Text,
    terms=_Text,
    whitelist_emails=list[Any] | None,
    phases=_many(_Phase),
    pages=_many(_Page),
    leaderboards=_many(_Board),
)
_Score = _shape(column_key=str, score=str | float | None)
_Submission = _shape(
    id=int,
    owner=str,
    created_when=_Sent,
    parent=_Number,
    status=_Text,
    status_details=_Text,
    filename=_Text,
    children=list[int] | None,
    scores=_many(_Score),
)
_ADDRESSES = dict.fromkeys(("data_file", "prediction_result", "scoring_result", "detailed_result"), _Text)
_PAGED = {"count": _Number, "next": _Text}
SHAPES: tuple[tuple[str, Any], ...] = (
    (r"POST api-token-auth/", _shape(token=str)),
    (r"GET my_profile/", _shape(username=str)),
    (r"GET competitions/\d+/", _Competition),
    (r"GET competitions/\d+/creation_status/", _shape(status=str, details=_Text, resulting_competition=_Number)),
    (r"GET competitions/\d+/get_files/", _shape(bundle=_shape(url=_Text) | None)),
    (r"GET tasks/\d+/", _Task),
    (r"POST datasets/", _shape(key=str, sassy_url=str)),
    (r"PUT datasets/completed/[^/]+/", _shape(status_id=_Number)),
    (r"GET can_make_submission/\d+/", _shape(can=bool, reason=_Text)),
    (r"GET submissions/\d+/", _Submission),
    (r"GET submissions/\d+/get_details/", _shape(logs=_many(_shape(name=str, data_file=_Text)), **_ADDRESSES)),
    (r"POST submissions/(\d+/re_run_submission/)?", _Identified),
    (r"GET phases/\d+/get_leaderboard/", _shape(submissions=_rows(_shape(id=int, owner=str)), **_PAGED)),
)
"""Request → the type of its answer."""
ROWS: Mapping[str, Any] = {
    "GET competitions/": _shape(id=int, title=_Text),
    "GET datasets/": _shape(id=int, key=_Text, name=_Text),
    "GET participants/": _shape(username=str, status=_Text),
    "GET queues/": _shape(id=int, vhost=_Text),
    "GET submissions/": _Submission,
    "GET tasks/": _Identified,
}
"""Likewise of lists, which come in pages since 2026, and whole before: what each row is."""
_PageOfRows = _shape(results=list[Any], **_PAGED)


class ShapeError(ValueError):
    """An answer of another type than the server gives."""


def check_answer(request: str, value: Any) -> None:
    """Hold the JSON that a request, such as `GET submissions/12/`, is answered with against the type it must have.

    Raises:
        ShapeError: it has another type; says where.
    """
    try:
        if (row := ROWS.get(request)) is not None:
            rows = value
            if not isinstance(value, list):
                _validator(_PageOfRows).validate_python(value, strict=True)
                rows = value["results"]
            _validator(_rows(row)).validate_python(rows, strict=True)
            return
        for pattern, shape in SHAPES:
            if re.fullmatch(pattern, request):
                _validator(shape).validate_python(value, strict=True)
                return
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        what = first["msg"].removesuffix(" or instance of Answer")
        raise ShapeError(f"{where or 'the answer'}: {what}") from None


@cache
def _validator(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def body_in_one_line(body: str) -> str:
    """Return an error's body: the messages of JSON, the code of a storage's XML, or the first line of a page's text."""
    try:
        return _cut("; ".join(_messages(json.loads(body))))
    except (ValueError, RecursionError):
        pass
    if code := re.search(r"<Code>(\w+)</Code>", body):
        return code.group(1)
    plain = re.sub(r"(?is)<(script|style|title)\b.*?</\1>|<[^>]*>", " ", body)
    lines = [line for line in plain.splitlines() if line.strip()]
    return _cut(unescape(lines[0])) if lines else ""


def unsigned(text: str) -> str:
    """Return a text without queries of addresses, which may be signatures: workers quote what they could not fetch."""
    return re.sub(r"(https?://[^\s?]+)\?\S+", r"\1", text)


def _cut(text: str) -> str:
    text = one_line(" ".join(text.split()))
    if len(text) <= LONGEST_TEXT:
        return text
    words = text[: LONGEST_TEXT + 1].rpartition(" ")[0]
    return f"{words} …" if words else f"{text[:LONGEST_TEXT]}…"


def _messages(value: Any) -> list[str]:
    if isinstance(value, list):
        return [message for inner in value for message in _messages(inner)]
    if not isinstance(value, Mapping):
        return [str(value)]
    found = []
    for key, inner in value.items():
        for message in _messages(inner):
            if key not in ("detail", "non_field_errors"):
                message = f"{key}: {message}"
            found.append(message)
    return found
