"""docs/real-tasks.md lists the declarations of real tasks as they are."""

from tests.docs.pages import DOCS
from tests.docs.real_tasks_table import table


def test_the_table_is_that_of_the_declarations() -> None:
    text = (DOCS / "real-tasks.md").read_text(encoding="utf-8")
    written = text.split("<!-- declarations -->\n")[1].split("\n<!-- end of declarations -->")[0]
    assert written == table(), "python -m tests.docs.real_tasks_table prints the table anew"
