#!/usr/bin/env python3
"""Tells whether this image can score: versions as locked, every model loads offline and gives its known number.

In the image it is the command `scoring-selftest`; for organisers, for those who run a worker, and the last step of the
image's own build. Exit status 0: all is well; 1: something is not, and the report says what.
"""

import argparse
import importlib.metadata
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCORING = Path(os.environ.get("SCORING_FOLDER", "/opt/scoring"))
OUTPUT = Path("/app/output")
PAIR = ("It rained all day.", "The day was wet.")
TOLERANCE = 1e-4  # between machines' arithmetic in 32 bits; a wrong model or tokenizer is further off


Check = dict[str, Any]
"""One line of the report: `name`, `ok` and `detail`."""


def check(name: str, ok: bool, detail: str) -> Check:
    """Return a line of the report."""
    return {"name": name, "ok": ok, "detail": detail}


def check_versions() -> Check:
    """Every package in the image's locks is installed in that version; `+cpu` counts only where the lock says it."""
    wrong = []
    locks = "".join((SCORING / name).read_text() for name in ("torch.txt", "packages.txt") if (SCORING / name).exists())
    locked = dict(re.findall(r"^([a-z0-9._-]+)==([^\s\\;]+)", locks, re.MULTILINE | re.IGNORECASE))
    for name, version in locked.items():
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "not installed"
        if version not in (found, found.split("+")[0]):
            wrong.append(f"{name} is {found}, locked {version}")
    return check("versions", not wrong, "; ".join(wrong) or f"{len(locked)} packages as locked")


def check_output() -> Check:
    """The folder for the scores can be written where the engine mounts one."""
    if not OUTPUT.is_mount():
        return check("output", True, f"{OUTPUT} is not mounted; nothing to try")
    try:
        with tempfile.NamedTemporaryFile(dir=OUTPUT):
            return check("output", True, f"{OUTPUT} can be written")
    except OSError as error:
        return check("output", False, f"{OUTPUT} cannot be written: {error.strerror}")


def check_punkt() -> Check:
    """The sentence splitter knows abbreviations, which it does only with its data."""
    import nltk

    try:
        sentences = nltk.sent_tokenize("Dr. Smith was late. Nobody minded.")
    except LookupError:
        return check("punkt", False, "nltk does not find its punkt_tab data")
    return check("punkt", len(sentences) == 2, f"{len(sentences)} sentences found in a text of 2")


def check_gpu() -> Check:
    """A GPU is seen and computes."""
    try:
        import torch
    except ModuleNotFoundError:
        return check("gpu", False, "this image has no torch; its programs use no GPU")
    if not torch.cuda.is_available():
        reason = "torch is built without CUDA"
        if built := torch.version.cuda:
            reason = f"torch is built for CUDA {built}: is a driver there?"
        return check("gpu", False, f"no GPU is seen ({reason})")
    torch.ones(64, 64, device="cuda").matmul(torch.ones(64, 64, device="cuda")).sum().item()
    gpu = torch.cuda.get_device_properties(0)
    return check("gpu", True, f"{gpu.name}, {gpu.total_memory / 2**30:.1f} GiB, torch for CUDA {torch.version.cuda}")


def model_number(repository: str, device: str) -> float:
    """A number that needs the whole model: of a fixed pair of sentences.

    For a classifier the probability of its first class; for an encoder the cosine of the two mean hidden states.
    """
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(repository, local_files_only=True)
    architectures = AutoConfig.from_pretrained(repository, local_files_only=True).architectures or [""]
    classifier = architectures[0].endswith("ForSequenceClassification")
    loader = AutoModelForSequenceClassification if classifier else AutoModel
    model = loader.from_pretrained(repository, local_files_only=True, weights_only=True).float().to(device).eval()
    with torch.inference_mode():
        if classifier:
            logits = model(**tokenizer(*PAIR, return_tensors="pt").to(device)).logits
            return float(logits.softmax(-1)[0, 0])
        means = [model(**tokenizer(text, return_tensors="pt").to(device)).last_hidden_state.mean(1) for text in PAIR]
        return float(torch.nn.functional.cosine_similarity(means[0], means[1])[0])


def check_models(models: list[dict[str, Any]], numbers: dict[str, float], device: str) -> Iterator[Check]:
    """Each model loads by its name without a network and gives its locked number."""
    for model in models:
        name, locked = model["repository"], model["number"]
        try:
            number = numbers[name] = round(model_number(name, device), 6)
        except Exception as error:  # whatever its loading raises is the finding
            yield check(f"model {name}", False, f"does not load: {type(error).__name__}: {error}")
            continue
        close, expected = True, "not locked yet"
        if locked is not None:
            close, expected = abs(number - locked) <= TOLERANCE, f"locked {locked}"
        yield check(f"model {name}", close, f"{number} ({expected}), revision {model['revision']}")


def run(gpu: bool) -> dict[str, Any]:
    """All checks: `{ok, checks: [{name, ok, detail}], numbers: {repository: number}}`."""
    manifest = json.loads((SCORING / "manifest.json").read_text(encoding="utf-8"))
    numbers: dict[str, float] = {}
    checks = [check_versions(), check_output()]
    if manifest["punkt"] is not None:
        checks.append(check_punkt())
    device = "cpu"
    if gpu:
        checks.append(check_gpu())
        if checks[-1]["ok"]:
            device = "cuda"
    checks += check_models(manifest["models"], numbers, device)
    return {"ok": all(one["ok"] for one in checks), "checks": checks, "numbers": numbers}


def main() -> int:
    """Read the options, print the report; 0 where all is well, else 1."""
    parser = argparse.ArgumentParser(prog="scoring-selftest", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gpu", action="store_true", help="a GPU must be there, and the models are run on it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args()
    report = run(arguments.gpu)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        for one in report["checks"]:
            word = "ok  " if one["ok"] else "FAIL"
            print(f"{word}  {one['name']}: {one['detail']}")
    return int(not report["ok"])


if __name__ == "__main__":
    sys.exit(main())
