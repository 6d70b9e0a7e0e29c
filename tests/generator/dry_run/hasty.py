"""The process engine with shorter limits, for tests that wait for one: the platform's are whole seconds."""

from typing import Any

from gen_bundle.dry_run.engines import Container, Ended
from gen_bundle.dry_run.engines.process import ProcessEngine


class HastyEngine(ProcessEngine):
    """Ends programs after this share of their limit."""

    share = 0.4

    def run(self, container: Container, *, seconds: float, **more: Any) -> Ended:
        return super().run(container, seconds=seconds * self.share, **more)
