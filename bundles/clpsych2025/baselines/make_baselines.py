#!/usr/bin/env python3
"""Writes two baselines for each phase from the participants' input alone (`data/public/`), never from gold.

`LexicalRule_1` picks sentences by a small list of words and derives everything from them;
`LeadSentence_1` answers with the first sentence and the middle of the scale.

Run it after a change of the data: `python bundles/clpsych2025/baselines/make_baselines.py`.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"
PHASES = ("dev", "test")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
WORD = re.compile(r"[a-z']+")
ADAPTIVE = frozenset(
    WORD.findall("""
    able booked calm contented danced delight enjoy fair flew float glad good grin grinning happy help helped hopeful
    joy kind kindly kissed know laughed light listened love peaceful pride proud ready relief rested rest rang said
    smiling steady still thank thanked told together walked want warm whistled""")
)
MALADAPTIVE = frozenset(
    WORD.findall("""
    afraid alone angry ashamed barked bitter burden burnt checked cornered cried dread empty failing failure fear
    flat frightened grieve grey guilt hid hopeless hurt itchy laughing lie lied lonely nobody numb panic pointless
    ruin ruined scared shame shook shouted sick snapped stopped tired trembling useless wallpaper weak worry
    wrong""")
)

Answer = dict[str, Any]


def main() -> None:
    """Write `data/baselines/<phase>/<name>/<Team>_1.json` anew."""
    for phase in PHASES:
        timelines = [
            json.loads(path.read_text(encoding="utf-8")) for path in sorted((DATA / "public" / phase).iterdir())
        ]
        for folder, file, answer in (
            ("lexical-rule", "LexicalRule_1.json", lexical_rule),
            ("lead-sentence", "LeadSentence_1.json", lead_sentence),
        ):
            target = DATA / "baselines" / phase / folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            answers = {timeline["timeline_id"]: answer_of(timeline, answer) for timeline in timelines}
            target.write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def answer_of(timeline: dict[str, Any], answer: Callable[[str], Answer]) -> Answer:
    """The answer to one timeline; its summary strings together those of the first, the middle and the last post."""
    posts = {post["post_id"]: answer(post["post"]) for post in timeline["posts"]}
    summaries = [post["summary"] for post in posts.values()]
    chosen = [summaries[0], summaries[len(summaries) // 2], summaries[-1]]
    return {"timeline_level": {"summary": " ".join(chosen)}, "post_level": posts}


def lexical_rule(post: str) -> Answer:
    """Sentences with more words of one list than of the other are evidence; their balance gives the score."""
    sentences = SENTENCE_END.split(post)
    balance = {sentence: _count(sentence, ADAPTIVE) - _count(sentence, MALADAPTIVE) for sentence in sentences}
    adaptive = [sentence for sentence in sentences if balance[sentence] > 0]
    maladaptive = [sentence for sentence in sentences if balance[sentence] < 0]
    score = min(8, max(3, 5 + len(adaptive) - len(maladaptive)))
    feeling = {True: "does rather well", False: "is struggling"}[score > 5]
    return {
        "adaptive_evidence": adaptive,
        "maladaptive_evidence": maladaptive,
        "summary": f"The writer {feeling}. {(adaptive + maladaptive + sentences)[0]}",
        "wellbeing_score": score,
    }


def lead_sentence(post: str) -> Answer:
    """The first sentence as summary and as maladaptive evidence, 5 as the score."""
    first = SENTENCE_END.split(post)[0]
    return {"adaptive_evidence": [], "maladaptive_evidence": [first], "summary": first, "wellbeing_score": 5}


def _count(sentence: str, words: frozenset[str]) -> int:
    return sum(word in words for word in WORD.findall(sentence.lower()))


if __name__ == "__main__":
    main()
