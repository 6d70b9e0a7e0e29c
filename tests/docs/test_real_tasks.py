"""docs/real-tasks.md is what the folders of real tasks say."""

import runpy

from tests.docs.pages import DOCS


def test_the_page_is_what_the_tasks_say() -> None:
    page = (DOCS / "real-tasks.md").read_text(encoding="utf-8")
    written = runpy.run_path(str(DOCS / "make_real_tasks.py"))["page"]()
    assert page == written, "write it anew: python docs/make_real_tasks.py"
