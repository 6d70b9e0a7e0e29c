"""Small made-up gold data of each kind of task, for a start without a gold file."""

from gen_bundle.author.new.propose import Choices
from gen_bundle.ground.resources import MADE_UP
from gen_bundle.ground.tables.reading import read_table
from gen_bundle.ground.tables.table import FileTable

RECIPES = {
    "classification": Choices(["id"], [("label", None)], ["text"]),
    "multilabel": Choices(["id"], [("topics", None)], ["text"]),
    "regression": Choices(["id"], [("pleasure", None)], ["text"]),
    "spans": Choices(["id"], [("spans", None)], ["text"]),
    "tagging": Choices(["id"], [("tags", None)], ["tokens"]),
    "ranking": Choices(["query_id"], [], ["query"], rows="many"),
    "generation": Choices(["id"], [("text", "texts")], ["notes"]),
}
"""Recipe → what the columns of its gold are for."""


def recipe_gold(kind: str) -> tuple[FileTable, Choices]:
    """Return the made-up gold of a recipe, and what its columns are for."""
    (gold,) = (MADE_UP / kind).glob("gold.*")
    return read_table(gold), RECIPES[kind]
