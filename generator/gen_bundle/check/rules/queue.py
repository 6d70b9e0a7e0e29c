"""The queue: the workers that run submissions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle


@rule(
    "queue-unknown",
    Effect.REFUSED,
    Stage.QUEUE,
    title="a queue that cannot be assumed to exist",
    consequence="The upload ends with `The specified Queue does not exist!`, with an error that the value is no UUID, "
    "or with `You do not have access to the specified queue!`",
    repair="Give the queue's vhost, a UUID, and not its name. If the queue exists on your server and is open to you, "
    "name it with --known-key.",
    source=f"{UNPACKER}/base_unpacker.py (queue)",
    reads="both",
)
def _queue_unknown(bundle: Bundle) -> Iterator[Problem]:
    queue = bundle.yaml.get("queue")
    if queue and str(queue) not in bundle.known_keys:
        yield Problem(f"queue is {shown(queue)}", ("queue",))
