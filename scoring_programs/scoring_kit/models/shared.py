"""Engines that run models: a process's own, or, in a run of a warm worker, those that all its runs share.

The latter live in a process of their own, which is asked over a connection. What it cannot do (it has died, or the
engine has failed there), the run does itself: so failures and messages are those of a single run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Forgetful(Protocol):
    """An engine that remembers what it has computed."""

    def forget(self) -> None:
        """Forget what was not used lately, where that has become much."""


Options = TypeVar("Options", bound=Hashable)
Engine = TypeVar("Engine", bound=Forgetful)
Connect = Callable[[], "Connection"]
_connect: Connect | None = None


def ask_through(connect: Connect) -> None:
    """Let this process share the engines at the other end of a connection, which `connect` makes or has made."""
    global _connect
    _connect = connect


def engine(make: Callable[[Options], Engine], options: Options) -> Engine:
    """The engine that `make`, a class, makes of these options: shared where this process shares engines."""
    if _connect is None:
        return make(options)
    shared = _Shared(_connect, make, options)
    return cast("Engine", shared) if shared.is_there() else make(options)


class _Shared:
    """Stands for an engine elsewhere: its methods are called there."""

    def __init__(self, connect: Connect, make: Callable[[Any], Any], options: Any) -> None:
        self._connect, self._make, self._options = connect, make, options
        self._own: Any = None

    def is_there(self) -> bool:
        """Whether the engine could be made."""
        return self._asked("", (), {})[0]

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self._own is None:
                done, result = self._asked(method, arguments, named)
                if done:
                    return result
                self._own = self._make(self._options)
            return getattr(self._own, method)(*arguments, **named)

        return call

    def _asked(self, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[bool, Any]:
        """Whether it could be done, and the result."""
        try:
            connection = self._connect()
            connection.send((self._make, self._options, method, arguments, named))
            return cast("tuple[bool, Any]", connection.recv())
        except Exception:  # the process has died, or the arguments, such as a generator, cannot be sent
            return False, None


class Engines:
    """The shared engines, made when they are first asked for, and kept."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, Any], Any] = {}

    def answer(self, connection: Connection) -> None:
        """Answer all that a run asks, until it ends."""
        try:
            while True:
                connection.send(self._done(*connection.recv()))
        except (EOFError, OSError):
            for made in self._made.values():
                made.forget()

    def _done(
        self, make: Callable[[Any], Any], options: Any, method: str, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[bool, Any]:
        try:
            made = self._made.get((make, options))
            if made is None:
                made = self._made[make, options] = make(options)
            return True, getattr(made, method)(*arguments, **named) if method else None
        except Exception as error:
            print(f"{make.__name__}: {type(error).__name__}; the run does it itself", file=sys.stderr)
            return False, None
