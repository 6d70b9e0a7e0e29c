"""A headless Chromium for tests: Debian's package (tests/install-browser), driven by Playwright.

`CHROMIUM` names another executable. Absent, browser tests are skipped with that reason; with `CI=true` they fail.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-software-rasterizer",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK, PHONE = (1280, 900), (360, 740)
looks = pytest.mark.parametrize(
    ("size", "dark"),
    [
        (DESK, False),
        (PHONE, True),
        pytest.param(DESK, True, marks=pytest.mark.thorough),
        pytest.param(PHONE, False, marks=pytest.mark.thorough),
    ],
    ids=["desk-light", "phone-dark", "desk-dark", "phone-light"],
)
"""How a page may be seen: in windows of these sizes, in either colour scheme."""


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A running browser, one for all tests of a process."""
    if not CHROMIUM.exists():
        reason = "no Chromium here: tests/install-browser, or CHROMIUM=its path"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with launched() as running:
        yield running


@contextmanager
def launched() -> "Iterator[Browser]":
    """Start Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        try:
            yield running
        finally:
            running.close()


class Visit:
    """A page as a reader sees it, and everything that it asked for or complained about.

    Attributes:
        page: Playwright's page.
        complaints: errors and warnings of the console, uncaught errors, and dialogs.
        requests: addresses it asked for besides its own.
    """

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._heard: dict[str, Callable[[Any], None]] = {
            "console": lambda m: self.complaints.append(m.text) if m.type in {"error", "warning"} else None,
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": self._refuse,
            "request": lambda request: self.requests.append(request.url),
        }
        for event, heard in self._heard.items():
            page.on(event, heard)  # type: ignore[call-overload]

    def end(self) -> None:
        """Hear nothing more."""
        for event, heard in self._heard.items():
            self.page.remove_listener(event, heard)

    def _refuse(self, dialog: "Dialog") -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    def accessibility_violations(self) -> list[str]:
        """What axe finds: rule, its help, and the first element."""
        from axe_playwright_python.sync_playwright import Axe

        # What it would load beforehand are style sheets and media of their own, which no page of ours has.
        options = {"resultTypes": ["violations"], "preload": False}
        found: list[dict[str, Any]] = Axe().run(self.page, options=options).response["violations"]
        return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:160]}" for v in found]


@contextmanager
def visit(
    browser: "Browser", address: str, size: tuple[int, int] = DESK, *, dark: bool = False, zone: str = "UTC"
) -> Iterator[Visit]:
    """Open an address in a window of a size (pixels), colour scheme and time zone.

    The window is the one of earlier visits from that zone, since a new one, with a process of its own, takes longer
    than all that is looked at in it. What pages store there is removed.
    """
    page = _window(browser, zone)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(media="null", color_scheme="dark" if dark else "light")
    seen = Visit(page)
    try:
        page.goto(address)
        yield seen
    finally:
        seen.end()
        page.evaluate("localStorage.clear(); sessionStorage.clear()")


@cache
def _window(browser: "Browser", zone: str) -> "Page":
    return browser.new_context(timezone_id=zone, locale="en-GB", reduced_motion="reduce").new_page()
