"""What must not reach participants, as a scoring package names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Secrets:
    """The secrets of a competition's reference data.

    Attributes:
        texts: gold texts (spans as annotations, summaries); found anywhere participants can read, they are a leak.
        labels: pairs of an item's id and its gold label, which must not be found tied together in a line or record.
        files: names (relative to the reference data) of files that are secret as a whole, or SHA-256 digests: of such a
            file, or of its XML in canonical form (see `gen_bundle.check.leaks.records.xml_digest`).
        published: names of reference files, or their SHA-256 digests, that participants may have.
        public: texts that participants legitimately hold; what occurs in them is no leak.
    """

    texts: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
