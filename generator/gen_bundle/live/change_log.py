"""The log of every request that changes something on a server: when, what and with which answer, never a secret."""

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gen_bundle.errors import UserError
from gen_bundle.remembered import state_folder


@dataclass
class ChangeLog:
    """A text file of requests and their answers.

    Attributes:
        required: whether a line that cannot be written is an error.
    """

    file: Path = field(default_factory=lambda: state_folder() / "changes.log")
    required: bool = True

    def write(self, method: str, address: str, outcome: str) -> None:
        """Add a line; the address comes without its query, which may be a signature.

        Raises:
            UserError: the file cannot be written, and is required.
        """
        line = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {method} {address} {outcome}\n"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log:
                log.write(line.encode())
        except OSError as error:
            if not self.required:
                return
            raise UserError(f"{self.file}: the log of changes cannot be written ({error.strerror}).") from None
