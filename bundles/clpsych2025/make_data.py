#!/usr/bin/env python3
"""Writes the synthetic timelines in the organisers' raw form, and what of them participants may have.

The texts are our own, invented from the first to the last sentence; they lie in `synthetic/<phase>.txt`:

    = The summary of a timeline
    * 6 | The summary of a post (nothing: no summary; `-` for 6: no well-being score)
    The post itself, with [+A adaptive evidence] and [-C-S maladaptive evidence] after the code of its element.

Run it after a change: `python bundles/clpsych2025/make_data.py`.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PHASES = ("dev", "test")
STATES = {"+": "adaptive", "-": "maladaptive"}
MARKED = re.compile(r"\[([+-])([A-D](?:-[OS])?) ([^\]]+)\]")
CATEGORIES = {
    "adaptive": {
        "A": "Calm, content, proud or hopeful",
        "B-O": "Behaviour towards others: relating",
        "B-S": "Behaviour towards the self: self-care",
        "C-O": "Others seen as supportive",
        "C-S": "Self seen with acceptance",
        "D": "Need: closeness, autonomy or competence, expected to be met",
    },
    "maladaptive": {
        "A": "Anxious, sad, ashamed, angry or numb",
        "B-O": "Behaviour towards others: fight or flight",
        "B-S": "Behaviour towards the self: neglect or avoidance",
        "C-O": "Others seen as rejecting",
        "C-S": "Self seen as worthless",
        "D": "Need: closeness, autonomy or competence, expected to be unmet",
    },
}


def main() -> None:
    """Write `data/<phase>/<timeline>.json` and `data/public/<phase>/<timeline>.json` anew."""
    for phase in PHASES:
        text = (HERE / "synthetic" / f"{phase}.txt").read_text(encoding="utf-8")
        for number, block in enumerate(re.split(r"^= ", text, flags=re.MULTILINE)[1:]):
            timeline = timeline_of(block, f"{phase}-{number}")
            posts = [{"post_id": post["post_id"], "post": post["post"]} for post in timeline["posts"]]
            open_part = {"timeline_id": timeline["timeline_id"], "posts": posts}
            write(HERE / "data" / phase, timeline)
            write(HERE / "data" / "public" / phase, open_part)


def timeline_of(block: str, seed: str) -> dict[str, Any]:
    """One timeline of its marked-up text."""
    summary, *posts = re.split(r"^\* ", block.strip(), flags=re.MULTILINE)
    return {
        "timeline_id": identifier(seed),
        "timeline_summary": summary.strip(),
        "posts": [post_of(text, f"{seed}-{number}") for number, text in enumerate(posts)],
    }


def post_of(text: str, seed: str) -> dict[str, Any]:
    """One post of its marked-up text."""
    first, body = text.strip().split("\n", 1)
    score, summary = (part.strip() for part in first.split("|", 1))
    evidence: dict[str, dict[str, dict[str, str]]] = {"adaptive-state": {}, "maladaptive-state": {}}
    for sign, code, span in MARKED.findall(body):
        elements = evidence[f"{STATES[sign]}-state"]
        if code in elements:
            raise SystemExit(f"two pieces of evidence for {sign}{code} in one post: {span}")
        elements[code] = {"Category": CATEGORIES[STATES[sign]][code], "highlighted_evidence": span}
    return {
        "post_id": identifier(seed),
        "post": MARKED.sub(r"\3", body).strip(),
        "Post Summary": summary or None,
        "Well-being": None if score == "-" else int(score),
        "evidence": {state: elements for state, elements in evidence.items() if elements},
    }


def identifier(seed: str) -> str:
    """Ten hexadecimal digits, as the ids of the shared task look."""
    return hashlib.sha256(f"synthetic {seed}".encode()).hexdigest()[:10]


def write(folder: Path, timeline: dict[str, Any]) -> None:
    """Write one timeline's file."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(timeline, ensure_ascii=False, indent=1) + "\n"
    (folder / f"{timeline['timeline_id']}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
