"""Run every benchmark, or those that are named: `python -m research.benchmarks [name …]`.

A benchmark is a module `bench_<name>.py` of this folder with a function `main()`.
"""

import sys
from importlib import import_module
from pkgutil import iter_modules

import research.benchmarks


def main(wanted: list[str]) -> int:
    """Run the benchmarks named in `wanted`, all if it is empty; 2 if there is no such benchmark."""
    names = [module.name for module in iter_modules(research.benchmarks.__path__) if module.name.startswith("bench_")]
    unknown = sorted(set(wanted) - {name.removeprefix("bench_") for name in names})
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}", file=sys.stderr)
        return 2
    for name in names:
        if not wanted or name.removeprefix("bench_") in wanted:
            print(f"== {name.removeprefix('bench_')}", flush=True)
            import_module(f"research.benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
