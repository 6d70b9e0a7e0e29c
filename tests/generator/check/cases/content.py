"""Bundles for the rules on values, keys, pages, the logo, the queue and the docker image."""

import hashlib
import io
import json

from PIL import Image

from gen_bundle.codabench.worker import PLATFORM_IMAGE
from tests.generator.check.drafts import (
    NEW_FILES,
    Case,
    Edit,
    both,
    delete,
    drop,
    first_phase,
    first_task,
    old,
    png,
    put,
    with_options,
    write,
)

REFERENCE = NEW_FILES["ref/truth.txt"]
METRICS = "declared/metrics/table.json"
QUEUE = "7183bff5-a48f-42fa-b6c2-14d345f8772b"


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (8, 8)) -> bytes:
    """A picture of a kind."""
    out = io.BytesIO()
    Image.new(mode, size).save(out, format=kind)
    return out.getvalue()


def pages_with_indexes(*indexes: int) -> Edit:
    """Two pages that carry indexes."""
    titles = ("Overview", "Data")
    return put(
        "pages",
        [{"title": title, "file": "overview.md", "index": index} for title, index in zip(titles, indexes, strict=True)],
    )


def needing(package: str, brought: str) -> Edit:
    """A program of ours that needs a package, and brings one."""
    return both(
        write("scoring/program.json", json.dumps({"needs": [package]}).encode()),
        write(f"scoring/site/{brought}.dist-info/METADATA", b"Name: it\n"),
        put("docker_image", PLATFORM_IMAGE),
    )


def synthetic(reference: bytes) -> Edit:
    """A program of ours that was built with synthetic gold, such as is there or another."""
    digests = {"truth.txt": hashlib.sha256(reference).hexdigest()}
    return write("scoring/program.json", json.dumps({"synthetic": digests}).encode())


CASES = {
    "field-missing": Case(drop("leaderboards", 0, "title"), put("leaderboards", 0, "title", 7)),
    "field-null": Case(put("forum_enabled", None), put("description", None)),
    "field-blank": Case(put("title", "  "), put("reward", "")),
    "field-too-long": Case(put("docker_image", "a" * 129), put("docker_image", "a" * 128)),
    "field-not-a-text": Case(put("title", True), put("title", 2031)),
    "field-nul-character": Case(put("title", "a\0b"), put("title", "a\tb")),
    "field-not-boolean": Case(put("forum_enabled", "maybe"), put("forum_enabled", "On")),
    "field-not-integer": Case(first_phase(max_submissions=1.5), first_phase(max_submissions="10.0")),
    "field-out-of-range": Case(first_phase(max_submissions=-1), first_phase(max_submissions=1)),
    "field-not-a-choice": Case(
        put("leaderboards", 0, "submission_rule", "force_best"), put("leaderboards", 0, "submission_rule", "Force_Best")
    ),
    "field-not-an-email": Case(put("contact_email", "A <a@example.org>"), put("contact_email", "a.b+c@bücher.example")),
    "title-too-long-to-store": Case(put("title", "t" * 223), put("title", "t" * 222)),
    "file-key-misspelt": Case(
        both(put("tasks", 0, "reference-data", "ref"), drop("tasks", 0, "reference_data")), first_task(reference="ref")
    ),
    "key-ignored": Case(put("collaborators", ["ann"]), put("x-shared", ["ann"])),
    "key-ignored-without-harm": Case(put("published", False), first_task(id="a1")),
    "pages-no-list": Case(drop("pages"), put("pages", [])),
    "page-without-file": Case(drop("pages", 0, "file")),
    "terms-missing": Case(drop("terms")),
    "page-path-no-text": Case(put("terms", 1), put("terms", "./terms.md")),
    "page-not-found": Case(put("pages", 0, "file", "Overview.md"), put("pages", 0, "file", "scoring/../overview.md")),
    "page-not-openable": Case(put("pages", 0, "file", "scoring"), put("pages", 0, "file", "./overview.md")),
    "page-empty": Case(write("overview.md", b""), write("overview.md", b"x")),
    "page-not-utf8": Case(write("overview.md", "é".encode("latin-1")), write("overview.md", "é".encode())),
    "page-nul-character": Case(write("overview.md", b"a\0b"), write("overview.md", b"a\tb")),
    "page-blank": Case(write("terms.md", b" \n<!-- to be written -->\t\n"), write("terms.md", b" .\n")),
    "page-heading-alone": Case(
        write("terms.md", b"# Terms\n\n<!-- None. -->\n\nOf the data\n---\n"),
        write("terms.md", b"# Terms\n![](data:,)\n"),
    ),
    "page-comment-open": Case(
        write("overview.md", b"# Data\n\n<!-- who made it -- >\nWe did.\n"),
        write("overview.md", b"# Data\n<!-- who --> `<!--`\n```\n<!--\n```\nThe sign a<!--b is text.\n"),
    ),
    "page-of-the-server": Case(put("terms", "/etc/hostname"), put("terms", "ref/../terms.md")),
    "page-byte-order-mark": Case(
        write("overview.md", b"\xef\xbb\xbf# Overview"), write("overview.md", b"\xef\xbb\xbfWelcome. # 1")
    ),
    "page-index-ignored": Case(pages_with_indexes(1, 0), pages_with_indexes(0, 5)),
    "page-relative-link": Case(
        write("overview.md", b"![plot](plot.png)\n"),
        write("overview.md", b"[us](https://example.org/a.png) [there](#there)\n```\n[code](plot.png)\n```\n"),
    ),
    "page-dollars": Case(
        write("overview.md", b"First prize: $500, second prize: $200.\n"),
        write("overview.md", b"First prize: $500.\nSecond prize: $200, and $x_1$ of a sum.\n"),
    ),
    "image-missing": Case(drop("image")),
    "image-path-no-text": Case(put("image", None)),
    "image-not-found": Case(put("image", "https://example.org/logo.png"), both(put("image", "l"), write("l", png()))),
    "image-kind": Case(write("logo.png", picture("BMP")), write("logo.png", picture("WEBP"))),
    "image-icon": Case(write("logo.png", picture("JPEG", "CMYK")), write("logo.png", picture("PNG", "RGBA", (100, 1)))),
    "queue-unknown": Case(put("queue", QUEUE), both(put("queue", QUEUE), with_options(known_keys=[QUEUE]))),
    "docker-image-name": Case(
        put("docker_image", "https://example.org/image:1"), put("docker_image", "example.org:5000/team/image:1")
    ),
    "docker-image-local": Case(
        both(put("queue", QUEUE), put("docker_image", "gen-bundle/task:1")), put("docker_image", "gen-bundle/task:1")
    ),
    "docker-image-unpublished": Case(
        put("docker_image", "gen-bundle/task:1"), both(put("queue", QUEUE), put("docker_image", "gen-bundle/task:1"))
    ),
    "synthetic-gold": Case(synthetic(REFERENCE), synthetic(b"a\nb\nb\n")),
    "unfinished": Case(put("contact_email", "me@example.org"), put("contact_email", "me@example.edu")),
    "library-missing": Case(
        needing("spacy==3.8.7", "spacy-3.8.6"),
        needing("ir-measures", "ir_measures-0.3.7"),
    ),
    "docker-image-without-tag": Case(put("docker_image", "team/image"), put("docker_image", "team/image:latest")),
    "docker-image-latest": Case(put("docker_image", "team/image:latest"), put("docker_image", "team/image:1")),
    "old-html": Case(drop("html", "terms"), put("html", "terms", "overview.html"), old),
    "old-phases": Case(put("phases", []), put("phases", 1, "is_scoring_only", True), old),
    "old-phase-key-missing": Case(drop("phases", 1, "start_date"), put("phases", 1, "label", 1), old),
    "old-phase-numbers-mixed": Case(
        put("phases", 2, {"phasenumber": "2", "label": "B", "start_date": "2031-02-02"}),
        put("phases", 2, {"phasenumber": 1.5, "label": "B", "start_date": "2031-02-02"}),
        old,
    ),
    "old-leaderboard": Case(
        drop("leaderboard", "leaderboards", "Results", "label"),
        drop("leaderboard", "leaderboards", "Results", "rank"),
        old,
    ),
    "old-ranks-mixed": Case(
        put("leaderboard", "columns", "f1", {"leaderboard": {"label": "Results"}, "rank": "2"}),
        put("leaderboard", "columns", "f1", {"leaderboard": {"label": "RESULTS"}, "rank": 2}),
        old,
    ),
    "old-column-keys-equal": Case(
        put("leaderboard", "columns", "f1", {"leaderboard": {"label": "Results"}, "title": "points"}),
        put("leaderboard", "columns", "f1", {"leaderboard": {"label": "Results"}, "title": "f"}),
        old,
    ),
    "old-board-without-columns": Case(
        put("leaderboard", "leaderboards", "Other", {"label": "Other"}),
        put("leaderboard", "leaderboards", {"A": {"label": "results"}}),
        old,
    ),
    "old-phases-lose-a-day": Case(
        put(
            "phases", 2, {"phasenumber": 2, "label": "B", "start_date": "2031-02-02", "scoring_program": "scoring.zip"}
        ),
        put("end_date", "2031-02-01"),
        old,
    ),
    "old-phase-without-scorer": Case(
        both(drop("phases", 1, "scoring_program"), delete("scoring.zip")), drop("phases", 1, "reference_data"), old
    ),
    "old-format": Case(put("version", 1.5), base=old),
}
