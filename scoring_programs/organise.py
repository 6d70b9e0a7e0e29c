"""Serves the organiser's verbs of a scoring package: `python -P organise.py PACKAGE ROOT [SITE]`.

Of the folder ROOT the package alone can be imported: no other file in it takes the place of a module. The verbs
are those of `scoring_kit.organiser`. Packages that are not installed are imported from the folder SITE.
"""

import runpy
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
name, root, *sites = sys.argv[1:]
sys.path += sites
found = PathFinder.find_spec(name, [root])
if found is None or found.loader is None:
    sys.exit(f"{root}: has no package {name}")
sys.modules[name] = module_from_spec(found)
found.loader.exec_module(sys.modules[name])
runpy.run_module(f"{name}.organiser", run_name="__main__")
