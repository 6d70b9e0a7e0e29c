"""Which engine runs a dry run."""

from gen_bundle.worker.engines import Engine
from gen_bundle.worker.engines.process import ProcessEngine


def choose_engine() -> Engine:
    """The engine at hand."""
    return ProcessEngine()
