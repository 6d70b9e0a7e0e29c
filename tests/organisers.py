"""Organiser processes that go on from one build to the next: importing a package's libraries takes a second a process.

For tests that build many bundles. That a build starts a process of its own and ends it, tests of the package show.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from gen_bundle.package.client import Organiser, ScoringPackage

opened_anew = ScoringPackage.opened


@pytest.fixture(scope="session")
def running_organisers() -> Iterator[tuple[ExitStack, dict[str, Organiser]]]:
    """The processes by package, which end with the session."""
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def kept_organisers(
    running_organisers: tuple[ExitStack, dict[str, Organiser]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer with a process that runs already, if the package comes with the tool."""
    stack, running = running_organisers

    @contextmanager
    def opened(package: ScoringPackage) -> Iterator[Organiser]:
        if package.is_own:
            with opened_anew(package) as organiser:
                yield organiser
            return
        if package.name not in running or running[package.name].process.poll() is not None:
            running[package.name] = stack.enter_context(opened_anew(package))
        yield replace(running[package.name], package=package)

    monkeypatch.setattr(ScoringPackage, "opened", opened)
