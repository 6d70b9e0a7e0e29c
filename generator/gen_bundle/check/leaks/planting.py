"""Gold planted in a copy of what participants read, form by form, to see whether the search for leaks would find it.

This shows the author of a scoring package that its `secrets()` names the wrong things. All of it stays in memory.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from xml.etree import ElementTree

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.leaks.columns import SHORTEST, GoldTable
from gen_bundle.check.leaks.gold import Gold, golds_of, reference_files
from gen_bundle.check.leaks.records import json_digest, json_value, lines, rows, words, xml_digest
from gen_bundle.check.leaks.relation import Relation
from gen_bundle.check.leaks.search import INPUT_CHANNELS, Search
from gen_bundle.check.leaks.tables import ColumnName, Row, json_rows, table
from gen_bundle.check.leaks.ties import ENOUGH_TIES
from gen_bundle.check.leaks.visible import Channel, Seen, visible_files, with_contents
from gen_bundle.zips.reading import sha256_of
from gen_bundle.zips.tree import Node
from gen_bundle.zips.writing import zipped

# Fewer rows are found only as a whole file: three small numbers agree by chance.
MIN_ROWS = 10
# This many rows, files and bytes are enough of a test.
MOST_ROWS = 200
MOST_FILES = 3
MOST_BYTES = 256 * 1024


@dataclass(frozen=True)
class Plant:
    """A file that might be among the public data, or the data that submitted code reads.

    Attributes:
        what: the gold in it, in words.
        name: its name, whose ending matters for how it is read.
        data: its content.
    """

    what: str
    name: str
    data: bytes


def unnoticed(bundle: Bundle) -> Iterator[str]:
    """The plants that the search for leaks does not find, and where, in words."""
    golds, shown = golds_of(bundle), visible_files(bundle)
    # both channels are searched alike
    channel: Channel = "input data" if any(seen.channel == "input data" for seen in shown) else "public data"
    search = Search(bundle, golds, shown)
    for plant in _plants(bundle, golds, shown):
        node = Node(size=len(plant.data), open=partial(io.BytesIO, plant.data))
        planted = list(with_contents(bundle, Seen(channel, (), f"planted/{plant.name}", node), 1))
        found = search.with_more(planted)
        if not any(found.gold_in(seen) for seen in planted):
            yield f"planted in the {channel}, {plant.what}"


def _plants(bundle: Bundle, golds: list[Gold], shown: list[Seen]) -> Iterator[Plant]:
    """Plants of what is known to be secret; of all gold, if nothing is."""
    named = {digest: name for gold in golds if gold.named for digest, name in gold.raw.items()}
    secret = {digest for gold in golds for digest in gold.raw}
    files = {sha256_of(node): (name, node) for name, node in reference_files(bundle)}
    gold_files = {digest: found for digest, found in files.items() if digest in secret}
    described = {
        name for name, _ in gold_files.values() if bundle.secrets and bundle.secrets.columns_of(name) is not None
    }
    tables = sorted((one for gold in golds for one in gold.tables), key=lambda one: -one.rows)
    is_known = bool(named) or any(one.secret for one in tables)
    for name, node in sorted(gold_files.values(), key=lambda found: found[1].size)[:MOST_FILES]:
        yield from _copies(name, node)
    for one in tables[:MOST_FILES]:
        is_wanted = one.name not in described and (not is_known or one.name in named.values())
        if one.rows >= MIN_ROWS and (one.secret or is_wanted):
            host = _host(one, shown)
            wanted = one.secret or {column for column in one.columns if not _is_public(one, column, host)}
            yield from _columns(one, sorted(wanted, key=str), host)
    as_tables = {one.name for one in tables if one.secret} | described
    texts = [
        found
        for digest, found in gold_files.items()
        if (digest in named or not is_known) and found[0] not in as_tables and xml_digest(found[1]) is None
    ]
    for name, node in texts[:MOST_FILES]:
        yield from _texts(name, node)


def _is_public(one: GoldTable, column: ColumnName, host: list[tuple[int, Row]]) -> bool:
    """Whether a public column already holds the cells, so that they are not secret."""
    cells = one.columns[column]
    return any(all(row.get(name) == cells.get(place) for place, row in host) for name in host[0][1])


def _copies(name: str, node: Node) -> Iterator[Plant]:
    """A file under another name, in a zip, and written by another program."""
    data = node.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        return
    yield Plant(f"a copy of {name}", "notes.dat", data)
    yield Plant(f"a copy of {name} in a zip", "notes.zip", zipped({"more/notes.dat": data}))
    value = json_value(node)
    if value is not None and json_digest(node) is not None:
        yield Plant(f"{name} with other blanks", "notes.json", json.dumps(value, indent=3).encode())
    if xml_digest(node) is not None:
        anew = ElementTree.canonicalize(data.decode("utf-8-sig", "replace"), strip_text=True)
        yield Plant(f"{name} with other blanks", "notes.xml", anew.encode())


def _host(one: GoldTable, shown: list[Seen]) -> list[tuple[int, Row]]:
    """Rows of a table that participants read, each with its gold row; a table of ids if there is none."""
    readable = (seen for seen in shown if seen.channel in INPUT_CHANNELS and seen.node.size <= MOST_BYTES)
    for seen in readable:
        found = list(islice(table(seen.node), MOST_ROWS))
        for places in one.keys.values():
            for column in found[0] if found else ():
                joined = {places[row[column]]: row for row in found if row.get(column) in places}
                if len(joined) >= MIN_ROWS:
                    return list(joined.items())
    if not one.keys:
        return [(place, {}) for place in range(one.rows)]
    return [(place, {"item": cell}) for cell, place in islice(next(iter(one.keys.values())).items(), MOST_ROWS)]


def _columns(one: GoldTable, wanted: list[ColumnName], host: list[tuple[int, Row]]) -> Iterator[Plant]:
    """Columns beside those of the host: all together, and each as it is, under other names, and as yes and no."""
    whole = [
        {**_public(row), **{one.title(name): cells.get(place, "") for name, cells in one.columns.items()}}
        for place, row in host
    ]
    yield Plant(f"all columns of {one.name}, appended to public ones", "items.csv", _csv(whole))
    ids = {place: cell for places in list(one.keys.values())[:1] for cell, place in places.items()}
    for column in wanted:
        cells = one.columns[column]
        given = [(place, row, cells[place]) for place, row in host if place in cells]
        if len(given) < MIN_ROWS or len({cell for *_, cell in given}) < 2:
            continue
        what = f"{one.title(column)} of {one.name}"
        pairs = [(ids.get(place, ""), cell) for place, _, cell in given]
        listed = "".join(f"{item}\t{cell}\n".lstrip("\t") for item, cell in pairs).encode()
        yield Plant(f"{what}, beside ids", "list.tsv", listed)
        yield Plant(f"{what}, beside ids in a zip", "list.zip", zipped({"list.tsv": listed}))
        yield Plant(f"{what}, as JSON", "list.json", json.dumps([{"i": i, "v": cell} for i, cell in pairs]).encode())
        for how, names in _disguises(Counter(cell for *_, cell in given)).items():
            relation = Relation(column in one.labels)
            for *_, cell in given:
                relation.add(cell, names[cell])
            compared = (len(given[0][1]) + 1) * len(one.columns)
            if relation.is_significant(compared, by_order=not one.keys):
                changed = [{**_public(row), "extra": names[cell]} for _, row, cell in given]
                yield Plant(f"{what}, {how}", "items.csv", _csv(changed[::-1] if one.keys else changed))


def _disguises(values: Counter[str]) -> dict[str, dict[str, str]]:
    """Other ways to write the labels: for each, the new value of every label."""
    frequent = values.most_common(1)[0][0]
    return {
        "under other names": {value: f"name-{number}" for number, value in enumerate(values)},
        "as 0 and 1": {value: str(int(value == frequent)) for value in values},
    }


def _public(row: Row) -> dict[str, str]:
    return {f"public {column}": cell for column, cell in row.items()}


def _csv(table_rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in table_rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(table_rows)
    return out.getvalue().encode()


def _texts(name: str, node: Node) -> Iterator[Plant]:
    """The texts of a file in another order."""
    value = json_value(node)
    if value is None and next(rows(node), None) is not None:
        return  # a table
    found = list(lines(node)) if value is None else [cell for row in json_rows(value) for cell in row.values()]
    texts = [text for text in islice(found, MOST_ROWS) if len(words(text)) >= SHORTEST]
    if len(texts) >= ENOUGH_TIES:
        yield Plant(f"the texts of {name}", "texts.txt", "\n".join(reversed(texts)).encode())
