"""Reaching a container engine, losing it, and reading along."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from docker.errors import APIError, DockerException, NotFound
from requests.exceptions import RequestException

import docker
from gen_bundle.twin.engines import EngineError, LineListener
from gen_bundle.twin.engines.logs import shown_line

API_SECONDS = 60
LINES_FOLLOWED = 1000


def connect(seconds: int = API_SECONDS) -> docker.DockerClient:
    """A client of the engine at DOCKER_HOST, or of this machine's own.

    Raises:
        EngineError: None answers.
    """
    client = None
    try:
        client = docker.from_env(timeout=seconds)
        client.ping()
    except (DockerException, RequestException) as error:
        if client is not None:
            client.close()
        raise EngineError(f"no container engine answers ({error})") from error
    return client


@contextmanager
def engine_answers() -> Iterator[None]:
    """Turn the loss of the engine into an EngineError."""
    try:
        yield
    except NotFound as error:
        raise EngineError(f"the container engine lost the container: {error.explanation}") from error
    except APIError as error:
        raise EngineError(f"the container engine refuses: {error.explanation}") from error
    except RequestException as error:
        raise EngineError(f"the container engine does not answer any more: {error}") from error


def follow_lines(running: str, on_line: LineListener) -> None:
    """Hand on the first lines while they are printed, on a connection of their own."""
    followed, rest = 0, b""
    try:
        with closing(connect()) as client:
            # Read to the end also when enough lines were followed: a stream that is left half-way is never closed.
            for chunk in client.api.logs(running, stdout=True, stderr=True, stream=True, follow=True):
                if followed < LINES_FOLLOWED:
                    *lines, rest = (rest + chunk).split(b"\n")
                    followed += len(lines)
                    for line in lines:
                        on_line(shown_line(line))
            if rest and followed < LINES_FOLLOWED:
                on_line(shown_line(rest))
    except (EngineError, DockerException, RequestException):
        return  # the lines are for watching; the logs are fetched at the end
