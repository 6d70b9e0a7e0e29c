"""The competition builds, and its baseline scores what it must."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


class Bundle(unittest.TestCase):
    def test_baseline_scores_through_the_bundle(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            bundle, out = Path(name) / "bundle.zip", Path(name) / "dry-run"
            gen_bundle = [sys.executable, "-P", "-m", "gen_bundle"]
            subprocess.run([*gen_bundle, str(FOLDER), "--out", str(bundle)], check=True)
            subprocess.run([*gen_bundle, "dry-run", str(bundle), "--engine", "process", "--out", str(out)], check=True)
            runs = json.loads((out / "dry-run.json").read_text(encoding="utf-8"))["runs"]
        assert {run["phase"] for run in runs} == {"dev", "test"}
        for run in runs:
            assert run["status"] == "Finished", run["message"]
            assert 0 < run["scores"]["accuracy"] < 1


if __name__ == "__main__":
    unittest.main()
