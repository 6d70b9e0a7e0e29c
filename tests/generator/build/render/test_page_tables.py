import re

from gen_bundle.build.render.page_tables import markdown_table, phases_table
from gen_bundle.declaration.model import DeclaredPhase, Milestone


def test_cells_cannot_break_the_table_or_start_a_formula() -> None:
    table = markdown_table(["a", "b"], [["x|y\nz", "$5 and $6"]])
    assert table.splitlines()[-1] == "| x\\|y z | &#36;5 and &#36;6 |"


TEST = {"id": "test", "name": "Test", "start": "2025-03-01 AoE", "end": "2025-03-11 AoE"}


def test_a_deadline_stands_in_every_zone() -> None:
    last = phases_table([DeclaredPhase.model_validate(TEST)], ["America/New_York", "Asia/Tokyo"]).splitlines()[-1]
    assert last.replace("\xa0", " ").split(" | ")[1:] == [
        "ends",
        "Wed 12 Mar 2025, 11:59",
        "Tue 11 Mar 2025, 23:59",
        "Wed 12 Mar 2025, 07:59",
        "Wed 12 Mar 2025, 20:59 |",
    ]


def test_a_date_cannot_be_broken_into_lines() -> None:
    for cell in phases_table([DeclaredPhase.model_validate(TEST)], []).splitlines()[-1].split(" | ")[2:]:
        assert len(re.split(r"[ \-]", cell.removesuffix(" |"))) == 2  # the date, the time


def test_milestones_stand_among_the_phases_in_the_order_of_time() -> None:
    given = [{"id": "dev", "name": "Dev", "start": "2025-02-01 AoE", "end": "2025-02-20 AoE"}, TEST]
    dates = {
        "Papers due": "2025-03-19 AoE",
        "Registration opens": "2025-01-07 12:00 UTC",
        "Test inputs": "2025-02-25 AoE",
    }
    phases = [DeclaredPhase.model_validate(phase) for phase in given]
    milestones = [Milestone.model_validate({"name": name, "date": date}) for name, date in dates.items()]
    rows = [row.replace("\xa0", " ").split(" | ") for row in phases_table(phases, [], milestones).splitlines()[2:]]
    assert [row[0].strip("| *") for row in rows] == [
        "Registration opens",
        "Dev",
        "",
        "Test inputs",
        "Test",
        "",
        "Papers due",
    ]
    assert rows[-1][1:] == ["", "Thu 20 Mar 2025, 11:59", "Wed 19 Mar 2025, 23:59 |"]
