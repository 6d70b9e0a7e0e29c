"""The logo: its file, its kind, and the small icon that the server makes of it."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gen_bundle.check.registry import MODELS, SERIALIZERS, UNPACKER, Effect, Problem, rule
from gen_bundle.codabench.fields import shown
from gen_bundle.codabench.stages import Stage
from gen_bundle.zips.tree import Node, OnServer

if TYPE_CHECKING:
    from gen_bundle.check.bundle import Bundle

IMAGE = f"{UNPACKER}/base_unpacker.py (image)"
LOGO_PLACE = (1,)
ICON_WIDTH = 100
# Modes that Pillow writes as PNG.
PNG_MODES = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
# Larger pictures are judged by their header alone, so that the check's memory stays bounded.
MAX_DECODED_PIXELS = 40_000_000
MAX_LOGO_BYTES = 64 * 1024 * 1024


def _logo(bundle: Bundle) -> tuple[str, bytes] | None:
    path = bundle.yaml.get("image")
    found = bundle.tree.find(path) if isinstance(path, str) else None
    if isinstance(path, str) and isinstance(found, Node) and not found.is_folder:
        return path, found.read(MAX_LOGO_BYTES)
    return None


def kind_of(data: bytes) -> str | None:
    """The kind of a picture by its first bytes: png, jpg, gif or webp; None for all else (animated PNGs too)."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        animation, pixels = data.find(b"acTL"), data.find(b"IDAT")
        return None if 0 <= animation < (pixels if pixels >= 0 else len(data)) else "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data.startswith(b"GIF"):
        return "gif"
    return "webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def icon_fault(data: bytes) -> str | None:
    """Why the server cannot make its 100 pixels wide icon of a picture; None when it can.

    It opens and resizes the picture without verifying it first, so that a wrong checksum of its pixels does no harm.
    """
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data))
        width, height = picture.size
        if int(ICON_WIDTH / width * height) < 1:
            return f"it is {width} × {height} pixels, so wide that the icon would have no height"
        if picture.mode not in PNG_MODES:
            return f"its colour mode {picture.mode} cannot be written as PNG"
        if width * height <= MAX_DECODED_PIXELS:
            picture.resize((ICON_WIDTH, int(ICON_WIDTH / width * height))).save(io.BytesIO(), format="PNG")
    except (
        OSError,
        EOFError,
        ValueError,
        SyntaxError,
        struct.error,
        ZeroDivisionError,
        Image.DecompressionBombError,
    ) as error:
        return f"it cannot be decoded ({error})".replace("<_io.BytesIO object", "<the file")
    return None


@rule(
    "image-missing",
    Effect.REFUSED,
    Stage.IMAGE,
    title="`image` is missing",
    consequence="The upload ends with `An image for this competition could not be found in the yaml`.",
    repair="Add `image` with the path of a logo.",
    source=IMAGE,
    reads="both",
)
def _image_missing(bundle: Bundle) -> Iterator[Problem]:
    if "image" not in bundle.yaml:
        yield Problem("image is missing", ("image",))


@rule(
    "image-path-no-text",
    Effect.REFUSED,
    Stage.IMAGE,
    title="the path of the logo is no text",
    consequence="The upload ends with `join() argument must be str, …`.",
    repair="Give a path.",
    source=IMAGE,
    reads="both",
)
def _image_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    if "image" in bundle.yaml and not isinstance(bundle.yaml["image"], str):
        yield Problem(f"image is {shown(bundle.yaml['image'])}, and must be a path", ("image",))


@rule(
    "image-not-found",
    Effect.REFUSED,
    Stage.IMAGE,
    title="the logo is not there, or is a folder",
    consequence="The upload ends with `Unable to find image: …` or `Is a directory`.",
    repair="Correct the path: it is relative to the root of the zip, and case counts; web addresses are not fetched.",
    source=IMAGE,
    reads="both",
)
def _image_not_found(bundle: Bundle) -> Iterator[Problem]:
    path = bundle.yaml.get("image")
    if not isinstance(path, str):
        return
    error = bundle.tree.open_error(path)
    if error:
        yield Problem(f"image {shown(path)} {error}", ("image",))
    elif isinstance(bundle.tree.find(path), OnServer):
        yield Problem(f"image {shown(path)} leads out of the bundle, to no picture", ("image",))
    elif bundle.tree.find(path) is None:
        near = bundle.tree.nearest(path)
        yield Problem(f"there is no file {path!r}" + (f"; there is {near!r}" if near else ""), ("image",))


@rule(
    "image-kind",
    Effect.REFUSED,
    Stage.SAVE_COMPETITION,
    title="the logo is no PNG, JPEG, GIF or WebP",
    consequence="The upload ends with `logo: Please upload a valid image.` or `logo: The type of the image couldn't be "
    "determined.`",
    repair="Convert it to PNG; the file's content counts, not its extension.",
    source=SERIALIZERS,
    reads="both",
)
def _image_kind(bundle: Bundle) -> Iterator[Problem]:
    logo = _logo(bundle)
    if logo and kind_of(logo[1]) is None:
        what = "is empty" if not logo[1] else "is no PNG, JPEG, GIF or WebP (animated PNGs are not taken either)"
        yield Problem(f"{logo[0]} {what}", ("image",), order=LOGO_PLACE)


@rule(
    "image-icon",
    Effect.REFUSED,
    Stage.STORE,
    title="the server cannot make its small icon of the logo",
    consequence="The upload ends with the error of the picture library, and leaves half a competition behind.",
    repair="Use an RGB PNG, roughly square.",
    source=f"{MODELS} (logo icon)",
    reads="both",
)
def _image_icon(bundle: Bundle) -> Iterator[Problem]:
    logo = _logo(bundle)
    if logo and kind_of(logo[1]) is not None:
        fault = icon_fault(logo[1])
        if fault:
            yield Problem(f"no icon can be made of {logo[0]}: {fault}", ("image",), order=(0,))
