"""The one error that is the user's to fix."""

from collections.abc import Sequence


class UserError(Exception):
    """Input that cannot be used: each message names file, line or field, what is wrong and what is expected.

    The command line prints the messages, says how many `more` there are, prints `advice`, a last line that is not an
    error of its own, and exits with `status`; anything else that is raised is a bug of ours.
    """

    status = 2

    def __init__(self, *messages: str, advice: str = "", more: int = 0) -> None:
        super().__init__("\n".join([*messages, advice]).strip())
        self.messages: Sequence[str] = messages
        self.advice = advice
        self.more = more
