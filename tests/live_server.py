"""A Codabench site on this machine: answers as the real server was seen to answer, with its faults.

Two addresses, as on the real site: the API, and a store for files that checks the content type of signed addresses;
`tests/live_ports.py` serves both.
"""

import io
import itertools
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests import live_edits
from tests.live_runs import HTML_500, OWNER, AnswerError, answer_runs, run_on, score_answer
from tests.yaml_text import loaded

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PASSWORD = "correct horse"


@dataclass
class Site:
    """The site's content, its faults, and what was asked of it.

    Attributes:
        paged: lists come in pages, as since 2026.
        organiser: whether the user organises the competitions, or only takes part.
        always: parts of `METHOD path` → what they are always answered: a status of HTML pages, an error, or any JSON.
        before: called with method and path before the API answers; likewise, or None: as ever.
        unannounced: names of stored files that are sent without their length.
        slow: seconds that a request to the API takes.
        unpacking: how often the status is asked for until a bundle is unpacked.
        breaks_after: parts of `METHOD path` that are answered 500 once, after the work was done.
        breaks_before: likewise, without doing the work.
        redirects: API paths (their ends) → where they lead.
        cut_short: how many of the next downloads end in the middle.
        whole: whether the store sends files from their beginning, whatever is asked for.
        lost: what the store answers where it has no such file.
        late_scores: how often a submission is asked for until its scores are there.
        running: how often a new submission is asked for until it is over.
        score: what the worker makes of a submission's file for the task of a name: what its row gets, with `logs`.
        asked: (address, method, path, Authorization, body) of all requests.
    """

    paged: bool = True
    organiser: bool = True
    always: dict[str, Any] = field(default_factory=dict)
    before: Callable[[str, str], Any] = lambda method, path: None
    unannounced: set[str] = field(default_factory=set)
    slow: float = 0
    unpacking: int = 2
    breaks_after: set[str] = field(default_factory=set)
    breaks_before: set[str] = field(default_factory=set)
    redirects: dict[str, str] = field(default_factory=dict)
    cut_short: int = 0
    whole: bool = False
    lost: int = 404
    late_scores: int = 0
    running: int = 3
    score: Callable[[bytes, str], dict[str, Any]] = score_answer
    asked: list[tuple[str, str, str, str | None, bytes]] = field(default_factory=list)
    address: str = ""
    store: str = ""
    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[int, dict[str, Any]] = field(default_factory=dict)
    competitions: dict[int, dict[str, Any]] = field(default_factory=dict)
    tasks: dict[int, dict[str, Any]] = field(default_factory=dict)
    participants: list[dict[str, Any]] = field(default_factory=list)
    submissions: list[dict[str, Any]] = field(default_factory=list)
    left: dict[int, int] = field(default_factory=dict)
    boards: dict[int, dict[str, Any]] = field(default_factory=dict)
    edits: live_edits.Edits = field(default_factory=live_edits.Edits)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(101))

    def changing(self) -> list[str]:
        """The requests that changed something, as `METHOD path`."""
        return [f"{method} {path.partition('?')[0]}" for _, method, path, *_ in self.asked if method != "GET"]

    def add_submission(self, phase: int, owner: str, content: bytes, **more: Any) -> dict[str, Any]:
        """Add a submission with a file; `logs` are texts by the names of their files, `page` what it shows of a run."""
        number = next(self.numbers)
        logs = more.pop("logs", {})
        if page := more.pop("page", ""):
            self.files[f"{number}-page.html"] = page.encode()
        row = {
            "id": number,
            "phase": phase,
            "owner": owner,
            "filename": "submission.zip",
            "status": "Finished",
            "status_details": "scoring_hostname-1",
            "created_when": f"2030-01-02T03:04:{len(self.submissions):02d}.123456Z",
            "scores": [{"index": 0, "column_key": "points", "score": "0.5000000000"}],
            "parent": None,
            "has_children": False,
            "children": [],
            "on_leaderboard": False,
            "is_soft_deleted": False,
            "organization": None,
        } | more
        self.submissions.append(row)
        self.files[f"{number}.zip"] = content
        self.store_logs(number, logs)
        self.files[f"{number}-result"] = b"" if row["status"] == "Failed" else packed({"scores.json": b"{}"})
        return row

    def store_logs(self, number: int, logs: dict[str, str]) -> None:
        """Store the logs of a submission; those without text are empty files."""
        for name in ("prediction_stdout", "prediction_stderr", "scoring_stdout", "scoring_stderr"):
            self.files[f"{number}-{name}"] = logs.get(name, "").encode()

    def signed(self, name: str) -> str:
        """The address of a stored file; what makes it secret is in the query."""
        return f"{self.store}/bucket/{name}?X-Amz-Signature=secret-signature"


def packed(files: dict[str, bytes]) -> bytes:
    """A zip of some files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # the same bytes at any time
    return out.getvalue()


def answer_api(site: Site, method: str, path: str, token: str | None, body: bytes) -> Any:
    """The JSON for a request, or None for 204.

    Raises:
        AnswerError: anything but 200.
    """
    url = urlsplit(path)
    parts = url.path.removeprefix("/api/").strip("/").split("/")
    query = {key: values[0] for key, values in parse_qs(url.query).items()}
    given = json.loads(body) if body else {}
    if parts == ["api-token-auth"]:
        if given.get("password") != PASSWORD:
            raise AnswerError(400, {"non_field_errors": ["Unable to log in with provided credentials."]})
        return {"token": TOKEN}
    if token != f"Token {TOKEN}":
        raise AnswerError(403, {"detail": "Invalid token."})
    match method, parts:
        case "GET", ["my_profile"]:
            return {"username": "ada", "name": "Ada", "email": "ada@site.org", "github_info": None}
        case "GET", ["queues"]:
            return {"count": 1, "next": None, "previous": None, "results": [{"id": 1, "vhost": "my-vhost"}]}
        case "POST", ["datasets"]:
            return _new_dataset(site, given)
        case "PUT", ["datasets", "completed", key]:
            return _completed(site, key)
        case "GET", ["competitions"]:
            rows = [{"id": one["id"], "title": one["title"]} for one in site.competitions.values()]
            return _listed(site, rows, query)
        case "GET", ["competitions", number, "creation_status"]:
            return _creation_status(site, int(number))
        case "GET", ["competitions", number]:
            return live_edits.shown(site, _found(site.competitions, number))
        case "PATCH", ["competitions", number]:
            return live_edits.patch_competition(site, _found(site.competitions, number), given)
        case "GET", ["competitions", number, "get_files"]:
            return live_edits.files_of(site, int(number))
        case "DELETE", ["competitions", number]:
            del site.competitions[int(number)]
            return None
        case "POST", ["competitions", number, "toggle_publish"]:
            competition = _found(site.competitions, number)
            competition["published"] = not competition["published"]
            return {"published": competition["published"]}
        case "GET", ["tasks"]:
            return _listed(site, live_edits.listed_tasks(site), query)
        case "GET", ["tasks", number]:
            return live_edits.shown_task(site, _found(site.tasks, number))
        case "PUT", ["tasks", number]:
            return live_edits.put_task(site, _found(site.tasks, number), given)
        case "GET", ["participants"]:
            return site.participants
        case "GET", ["submissions"]:
            live_edits.go_on(site)
            rows = [row for row in site.submissions if str(row["phase"]) == query.get("phase")]
            rows = [row for row in rows if site.organiser or row["owner"] == OWNER]
            return _listed(site, [_without_scores(row) for row in reversed(rows)], query)
        case "GET", ["datasets"]:
            return _listed(site, _datasets(site, query), query)
        case "DELETE", ["datasets", number]:
            del site.datasets[f"key-{number}"]
            return None
        case "POST", ["submissions", number, "submission_leaderboard_connection"]:
            return live_edits.put_on_board(site, int(number))
        case "GET", ["submissions", number]:
            run_on(site, int(number))
            return _submission(site, int(number))
        case "GET", ["submissions", number, "get_details"]:
            return _details(site, int(number))
        case "POST", ["submissions", number, "re_run_submission"]:
            return live_edits.rerun(site, int(number))
        case "GET", ["phases", number, "get_leaderboard"]:
            return _board(site, int(number), query)
    return answer_runs(site, method, parts, given)


def answer_with_faults(site: Site, method: str, path: str, token: str | None, body: bytes) -> Any:
    """As `answer_api`, with the site's faults.

    Raises:
        AnswerError: anything but 200.
    """
    route = path.partition("?")[0]
    if part := next((part for part in site.always if part in f"{method} {route}"), None):
        return _given(site.always[part])
    if site.slow:
        time.sleep(site.slow)
    if to := next((to for end, to in site.redirects.items() if route.endswith(end)), None):
        raise AnswerError(302, b"", {"Location": to})
    if part := next((part for part in site.breaks_before if part in f"{method} {route}"), None):
        site.breaks_before.remove(part)
        raise AnswerError(500, HTML_500)
    if (answer := _given(site.before(method, path))) is None:
        answer = answer_api(site, method, path, token, body)
    if part := next((part for part in site.breaks_after if part in f"{method} {route}"), None):
        site.breaks_after.remove(part)
        raise AnswerError(500, HTML_500)
    return answer


def _given(answer: Any) -> Any:
    """What a test lets the site answer."""
    if isinstance(answer, int):
        answer = AnswerError(answer, HTML_500)
    if isinstance(answer, AnswerError):
        raise answer
    return answer


def _found(rows: dict[int, dict[str, Any]], number: str) -> dict[str, Any]:
    if int(number) not in rows:
        raise AnswerError(404, {"detail": "Not found."})
    return rows[int(number)]


def _listed(site: Site, rows: list[dict[str, Any]], query: dict[str, str], key: str = "results") -> Any:
    if not site.paged:
        return rows
    size = min(int(query.get("page_size", 50)), 500)
    page = int(query.get("page", 1))
    here = rows[(page - 1) * size : page * size]
    # as behind a proxy: the server thinks that its address is another one
    more = f"http://elsewhere.invalid/api/?page={page + 1}" if page * size < len(rows) else None
    return {"count": len(rows), "next": more, "previous": None, "page_size": size, key: here}


def _new_dataset(site: Site, given: dict[str, Any]) -> Any:
    if not given.get("file_size"):
        raise AnswerError(400, {"file_size": "This field is required."})
    if len(given.get("file_name") or "") > 64:
        raise AnswerError(400, {"file_name": ["Ensure this field has no more than 64 characters."]})
    if (name := given.get("name")) and any(one.get("name") == name for one in site.datasets.values()):
        raise AnswerError(400, {"non_field_errors": ["You already have a dataset by this name"]})
    key = f"key-{next(site.numbers)}"
    site.datasets[key] = given
    return {"key": key, "sassy_url": site.signed(key)}


def _datasets(site: Site, query: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"id": live_edits.number_of(key), "key": key, "name": one.get("name"), "type": one["type"]}
        for key, one in site.datasets.items()
        if one["type"] == query.get("_type") and query.get("search", "") in f"{key} {one.get('name')}"
    ]


def _completed(site: Site, key: str) -> Any:
    if key not in site.datasets:
        raise AnswerError(404, {"detail": "Not found."})
    if site.datasets[key]["type"] != "competition_bundle":
        return {"key": key}
    number = next(site.numbers)
    site.statuses[number] = {"key": key, "left": site.unpacking, "competition": None, "details": ""}
    if not site.unpacking:
        _unpack(site, site.statuses[number])
    if "datasets/completed/" in site.breaks_after:  # the bundle is unpacked all the same
        _unpack(site, site.statuses[number])
    return {"status_id": number}


def _creation_status(site: Site, number: int) -> Any:
    row = site.statuses.get(number)
    if row is None:
        raise AnswerError(404, {"detail": "Not found."})
    row["left"] -= 1
    if row["left"] > 0:
        return {"status": "Starting", "details": None, "resulting_competition": None}
    _unpack(site, row)
    if row["details"]:
        return {"status": "Failed", "details": row["details"], "resulting_competition": None}
    return {"status": "Finished", "details": None, "resulting_competition": row["competition"]}


def _unpack(site: Site, row: dict[str, Any]) -> None:
    if row["competition"] or row["details"]:
        return
    try:
        with zipfile.ZipFile(io.BytesIO(site.files.get(row["key"], b""))) as archive:
            top = loaded(archive.read("competition.yaml"))
            row["competition"] = _new_competition(site, archive, top, row["key"])
    except zipfile.BadZipFile:
        row["details"] = "Bad zip file uploaded."
        del site.datasets[row["key"]]  # as the real site does


def _new_competition(site: Site, archive: zipfile.ZipFile, top: dict[str, Any], bundle: str) -> int:
    """Make what a bundle says, with all that the editor knows of a competition; `top` is its competition.yaml."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    tasks = {}
    for task in top["tasks"]:
        number = next(site.numbers)
        files = {role: live_edits.unpacked(site, role, number, now) for role in live_edits.ROLES if task.get(role)}
        site.tasks[number] = {
            "id": number,
            "key": f"task-key-{number}",
            "name": task["name"],
            "description": task.get("description") or "",
            "ingestion_only_during_scoring": task.get("ingestion_only_during_scoring", False),
            **{role: live_edits.dataset(site, files[role]) if role in files else None for role in live_edits.ROLES},
        }
        tasks[task["index"]] = {key: site.tasks[number][key] for key in ("id", "name", "key")}
    number = next(site.numbers)
    site.edits.bundles[number] = bundle
    site.competitions[number] = {
        "id": number,
        "title": top["title"],
        "published": False,
        "docker_image": top.get("docker_image", "codalab/codalab-legacy:py37"),
        "terms": archive.read(top["terms"]).decode().rstrip(),
        "competition_type": top.get("competition_type", "competition"),
        "created_when": now,
        "queue": None,
        "secret_key": "a-secret-key",
        "whitelist_emails": ["guest@site.org"],
        "collaborators": [],
        **{key: top.get(key) for key in ("description", "reward", "contact_email", "fact_sheet")},
        **{key: top.get(key, default) for key, default in live_edits.FLAGS.items()},
        "pages": [
            {
                "id": next(site.numbers),
                "index": place,
                "title": page["title"],
                "content": archive.read(page["file"]).decode().rstrip(),
            }
            for place, page in enumerate(top["pages"])
        ],
        "phases": [_new_phase(site, phase, tasks, now) for phase in top["phases"]],
        "leaderboards": [
            {
                "id": next(site.numbers),
                "title": board["title"],
                "key": board["key"],
                "hidden": board.get("hidden", False),
                "submission_rule": board.get("submission_rule", "Add"),
                "primary_index": board.get("primary_index", 0),
                "columns": [
                    {"sorting": "desc", "precision": 2, "hidden": False, "computation": None} | column
                    for column in board["columns"]
                ],
            }
            for board in top["leaderboards"]
        ],
    }
    return number


def _new_phase(site: Site, phase: dict[str, Any], tasks: dict[int, dict[str, Any]], now: str) -> dict[str, Any]:
    number = next(site.numbers)
    files = {role: live_edits.unpacked(site, role, number, now) for role in live_edits.KITS if phase.get(role)}
    return {
        "id": number,
        "index": phase["index"],
        "name": phase["name"],
        "description": phase.get("description"),
        "start": _date(phase.get("start")),
        "end": _date(phase.get("end")),
        "execution_time_limit": phase.get("execution_time_limit") or 600,
        "has_max_submissions": True,
        "max_submissions_per_day": phase.get("max_submissions_per_day", 5),
        "max_submissions_per_person": phase.get("max_submissions", 100),
        "tasks": [tasks[index] for index in phase["tasks"]],
        **{key: phase.get(key, False) for key in live_edits.PHASE_FLAGS},
        **{role: live_edits.attached(site, files[role]) if role in files else None for role in live_edits.KITS},
    }


def _date(text: str | None) -> str | None:
    if not text:
        return None
    return f"{datetime.fromisoformat(text).replace(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}"


def _without_scores(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "scores"}


def _submission(site: Site, number: int) -> dict[str, Any]:
    row = next((row for row in site.submissions if row["id"] == number), None)
    if row is None:
        raise AnswerError(404, {"detail": "Not found."})
    if site.late_scores and row["status"] == "Finished":
        site.late_scores -= 1
        return row | {"scores": []}
    return row


def _details(site: Site, number: int) -> dict[str, Any]:
    _submission(site, number)
    page = f"{number}-page.html"
    logs = [name for name in site.files if name.startswith(f"{number}-") and name.endswith(("stdout", "stderr"))]
    return {
        "data_file": site.signed(f"{number}.zip"),
        "prediction_result": None,
        "scoring_result": site.signed(f"{number}-result"),
        "detailed_result": site.signed(page) if page in site.files else None,
        "logs": [{"name": name.partition("-")[2], "data_file": site.signed(name)} for name in logs],
    }


def _board(site: Site, phase: int, query: dict[str, str]) -> Any:
    board = site.boards.get(phase) or live_edits.computed_board(site, phase)
    rows: list[dict[str, Any]] = board["submissions"]
    if not site.paged:
        return board
    return board | _listed(site, rows, query, "submissions")
