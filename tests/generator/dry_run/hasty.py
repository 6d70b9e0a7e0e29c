"""The process engine with shorter limits, for tests that wait for one: the platform's are whole seconds."""

from dataclasses import dataclass
from pathlib import Path

from gen_bundle.dry_run.engines import Container, Ended, LineListener
from gen_bundle.dry_run.engines.process import ProcessEngine


@dataclass(frozen=True)
class HastyEngine:
    """Ends programs after this share of their limit."""

    share: float
    engine: ProcessEngine

    name = "process"

    def prepare(self, image: str) -> list[str]:
        return self.engine.prepare(image)

    def run(self, container: Container, *, seconds: float, stdout: Path, stderr: Path, on_line: LineListener) -> Ended:
        return self.engine.run(container, seconds=seconds * self.share, stdout=stdout, stderr=stderr, on_line=on_line)

    def close(self) -> None:
        self.engine.close()
