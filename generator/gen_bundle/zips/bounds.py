"""How much a zip may hold, by who sent it. Sizes are counted while reading, never taken from the zip's directory."""

from dataclasses import dataclass

from scoring_kit.base.submissions import MAX_BYTES, MAX_FILES

MIB = 1024**2


@dataclass(frozen=True)
class Bounds:
    """How much a zip may hold.

    Attributes:
        members: Files and folders.
        total_bytes: Bytes of all files together, decompressed.
        ratio: Decompressed bytes for each compressed one; None: any.
        ratio_from: Bytes decompressed before the ratio counts: small files of one repeated character are honest
            (deflate reaches 1032).
    """

    members: int
    total_bytes: int
    ratio: int | None = None
    ratio_from: int = 0

    def is_bomb(self, plain: int, packed: int) -> bool:
        """Whether more bytes came out of the packed ones than honest data would give."""
        return self.ratio is not None and plain > self.ratio_from and plain > self.ratio * max(packed, 1)


# An organiser's bundle and what is packed in it, in a dry run and in the check. Codabench's default quota for a user is
# 15 GB.
BUNDLE = Bounds(members=200_000, total_bytes=15 * 1024 * MIB, ratio=200, ratio_from=2 * 1024 * MIB)
# A participant's submission: the same as at home.
SUBMISSION = Bounds(members=MAX_FILES, total_bytes=MAX_BYTES)
# Of both: the platform's worker copies folders by recursion, which ends below five hundred inside each other.
MAX_FOLDERS = 400
