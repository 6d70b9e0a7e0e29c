"""`validate.pyz`: the participants' validator, made of the competition's own `submission` module.

It holds that module, the kit's `validate` and what these two import, and nothing else of the scoring program.
"""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Template

from gen_bundle.package.imports import imported_modules
from gen_bundle.zips.writing import write_zip

SHEBANG = b"#!/usr/bin/env python3\n"
TEMPLATES = Path(__file__).resolve().parent / "templates" / "starting_kit"


def validator_bytes(package_folder: Path, kit_folder: Path, manifest: Mapping[str, Any]) -> bytes:
    """The zipapp, the same bytes for the same content.

    Args:
        package_folder: the scoring package, with its `submission.py`.
        kit_folder: the folder `scoring_kit`.
        manifest: what participants may know (`scoring_kit.manifest.Manifest` as a JSON object), without gold.
    """
    main = Template((TEMPLATES / "validate_main.py.j2").read_text(encoding="utf-8")).render(package=package_folder.name)
    members: dict[str, bytes | Path] = {
        "__main__.py": main.encode(),
        "scoring_kit/NOTICE": kit_folder / "NOTICE",
        "scoring_kit/manifest.json": json.dumps(manifest, ensure_ascii=False, default=str).encode(),
        **imported_modules((f"{package_folder.name}.submission", "scoring_kit.validate"), (package_folder, kit_folder)),
    }
    file = io.BytesIO()
    file.write(SHEBANG)
    write_zip(file, members)
    return file.getvalue()
