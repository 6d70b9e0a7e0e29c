"""Draws the pictures of the README anew: `python docs/make_pictures.py` (needs tests/install-browser).

Everything on them comes from the tool itself: a bundle is built, dry-run and previewed, and Chromium takes pictures.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT))

from tests.browser import launched  # noqa: E402 - the project's root is no installed package

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WIDTH = 1200
COLOURS = 160
NOW = "2025-10-20T09:00:00Z"
"""A moment within the development phase, so that the schedule shows something."""


def main() -> None:
    """Build, dry-run and preview CLARITY, and take pictures of the preview and of a results page."""
    with tempfile.TemporaryDirectory(prefix="pictures-") as work_name:
        work = Path(work_name)
        bundle = work / "bundle.zip"
        _run("clarity2026", "--out", bundle, "--set", "phases.test.details=full")
        _run("dry-run", bundle, "--engine", "process", "--out", work / "dry-run")
        _run("preview", bundle, "--dry-run", work / "dry-run", "--out", work / "preview")
        results = work / "dry-run" / "test" / "joint" / "good" / "output" / "detailed_results.html"
        with launched() as browser:
            _picture(browser, work / "preview" / "index.html", "preview", 760)
            _picture(browser, work / "preview" / "index.html", "leaderboard", 470, at="#leaderboard")
            _picture(browser, results, "results", 900)
            _picture(browser, results, "results-dark", 760, dark=True, at="figure")


def _run(*arguments: object) -> None:
    subprocess.run(
        [sys.executable, "-P", "-c", "from gen_bundle.cli import main; main()", *map(str, arguments)], check=True
    )


def _picture(
    browser: "Browser", page_file: Path, name: str, height: int, *, at: str | None = None, dark: bool = False
) -> None:
    """Save what a reader sees of a page, `WIDTH` × `height` pixels, from the top or from the element `at` on."""
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": WIDTH, "height": height}, color_scheme=scheme, timezone_id="Europe/Berlin", locale="en-GB"
    )
    page = context.new_page()
    page.clock.set_fixed_time(NOW)
    page.goto(page_file.as_uri())
    if at is not None:
        page.evaluate("at => scrollTo(0, document.querySelector(at).getBoundingClientRect().top + scrollY - 24)", at)
    path = PICTURES / f"{name}.png"
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=path)
    context.close()
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
