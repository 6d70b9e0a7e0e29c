"""What was written as an example, or to be replaced: pages, logo, contact, and gold that comes with the tool."""

import re
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle, page_files
from gen_bundle.check.registry import HOUSE, Problem, Topic
from gen_bundle.check.rules.pages_and_logo import logo_of
from gen_bundle.ground.resources import PLACEHOLDER, SCAFFOLD_TEXT
from gen_bundle.ground.zips.tree import Unpacked, sha256_of

UNFINISHED = Topic("What is left to do", HOUSE, reads="both")
# Domains reserved for examples: RFC 2606.
EXAMPLE_ADDRESS = re.compile(r"[@.](example|example\.(com|net|org)|test|invalid)$", re.IGNORECASE)


@UNFINISHED.note("what was written as an example, or to be replaced")
def _unfinished(bundle: Bundle) -> Iterator[Problem]:
    """Participants see it as it is. → Write the page or description, and give a logo and a contact of your own."""
    for page in page_files(bundle):
        if SCAFFOLD_TEXT in (bundle.text(page.path) or ""):
            yield Problem(f"{SCAFFOLD_TEXT} is still on {page.path}", page.at)
    logo = logo_of(bundle)
    if logo and PLACEHOLDER.encode() in logo[1]:
        yield Problem(f"{logo[0]} is the logo that gen-bundle new writes", ("image",))
    contact = bundle.yaml.get("contact_email")
    if isinstance(contact, str) and EXAMPLE_ADDRESS.search(contact):
        yield Problem(f"the contact {contact} is an example", ("contact_email",))
    if bundle.yaml.get("description") == "":
        yield Problem("the description is empty", ("description",))


@UNFINISHED.note("synthetic gold, which comes with gen-bundle")
def _synthetic_gold(bundle: Bundle) -> Iterator[Problem]:
    """Participants are ranked by made-up answers. → Build the bundle with the real data: `--data DIR`."""
    for task in bundle.competition.used_tasks:
        use = task.files.get("reference_data")
        built = bundle.program_json(task.files.get("scoring_program")).get("synthetic")
        if use is not None and built and built == _digests(bundle.unpacked(use)):
            yield Problem(f"the gold of {task.name} is synthetic: it comes with gen-bundle", use.at)


def _digests(data: Unpacked | None) -> dict[str, str]:
    return {name: sha256_of(node) for name, node in data.tree.files()} if data else {}
