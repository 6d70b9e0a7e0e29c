"""YAML text for tests, written and read by libyaml: as PyYAML itself does it, in a fraction of the time."""

from typing import Any

import yaml


def dumped(value: Any, **options: Any) -> str:
    """The value as `yaml.safe_dump` writes it, with keys in their order."""
    options = {"sort_keys": False, **options}
    try:
        text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, **options)
    except UnicodeEncodeError:  # half of a surrogate pair, which libyaml does not escape
        text = yaml.safe_dump(value, **options)
    return text


def loaded(text: str | bytes) -> Any:
    """The value as `yaml.safe_load` reads it."""
    return yaml.load(text, Loader=yaml.CSafeLoader)
