"""The logo: its file, its format, and the small icon that the server makes of it."""

import io
import struct
import warnings
from collections.abc import Iterator

from gen_bundle.check.bundle import Bundle
from gen_bundle.check.registry import MODELS, SERIALIZERS, UNPACKER, Problem, Topic
from gen_bundle.check.rules.shared import PATH_NOT_TEXT, missing
from gen_bundle.codabench.fields import Stage, shown
from gen_bundle.zips.tree import Node, OnServer

LOGO = Topic("The logo", f"{UNPACKER}/base_unpacker.py (image)", reads="both", stage=Stage.IMAGE)
LOGO_PLACE = (1,)
ICON_WIDTH = 100
# Modes that Pillow writes as PNG.
PNG_MODES = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
# Larger pictures are judged by their header alone, so that the check's memory stays bounded.
MAX_DECODED_PIXELS = 40_000_000
MAX_LOGO_BYTES = 64 * 1024 * 1024
# What Pillow raises for a picture that it cannot read.
UNDECODABLE = (OSError, EOFError, ValueError, SyntaxError, struct.error, ZeroDivisionError)


def _logo(bundle: Bundle) -> tuple[str, bytes] | None:
    path = bundle.yaml.get("image")
    found = bundle.find(path)
    if isinstance(found, Node) and not found.is_folder:
        return str(path), found.read(MAX_LOGO_BYTES)
    return None


def format_of(data: bytes) -> str | None:
    """The format of a picture by its first bytes: png, jpg, gif or webp; None for any other (animated PNGs too)."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        is_animated = b"acTL" in data.partition(b"IDAT")[0]
        return None if is_animated else "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if data.startswith(b"GIF"):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return None


def icon_fault(data: bytes) -> str | None:
    """Why the server cannot make its 100 pixels wide icon of a picture; None when it can.

    It opens and resizes the picture without verifying it first, so that a wrong checksum of the pixels does no harm.
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
    except (*UNDECODABLE, Image.DecompressionBombError) as error:
        return f"it cannot be decoded ({error})".replace("<_io.BytesIO object", "<the file")
    return None


LOGO.refused(
    "image-missing",
    "`image` is missing",
    "The upload ends with `An image for this competition could not be found in the yaml`. "
    "→ Add `image` with the path of a logo.",
)(missing("image"))


@LOGO.refused("image-path-no-text", "the path of the logo is not a text", f"{PATH_NOT_TEXT} → Give a path.")
def _image_path_no_text(bundle: Bundle) -> Iterator[Problem]:
    if "image" in bundle.yaml and not isinstance(bundle.yaml["image"], str):
        yield Problem(f"image is {shown(bundle.yaml['image'])}, and must be a path", ("image",))


@LOGO.refused("image-not-found", "the logo does not exist, or is a folder")
def _image_not_found(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `Unable to find image: …` or `Is a directory`.
    → Correct the path: it is relative to the root of the zip, and case matters; web addresses are not fetched.
    """
    path = bundle.yaml.get("image")
    if not isinstance(path, str):
        return
    error = bundle.tree.open_error(path)
    if error:
        yield Problem(f"image {shown(path)} {error}", ("image",))
    elif isinstance(bundle.find(path), OnServer):
        yield Problem(f"image {shown(path)} leads out of the bundle, and not to a picture", ("image",))
    elif bundle.find(path) is None:
        yield Problem(f"there is no file {path!r}{bundle.hint(path)}", ("image",))


@LOGO.refused(
    "image-kind", "the logo is not a PNG, JPEG, GIF or WebP", source=SERIALIZERS, stage=Stage.SAVE_COMPETITION
)
def _image_kind(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with `logo: Please upload a valid image.` or `logo: The type of the image couldn't be
    determined.`
    → Convert it to PNG; the file's content counts, not its extension.
    """
    logo = _logo(bundle)
    if logo and format_of(logo[1]) is None:
        what = "is not a PNG, JPEG, GIF or WebP (animated PNGs are not accepted either)" if logo[1] else "is empty"
        yield Problem(f"{logo[0]} {what}", ("image",), order=LOGO_PLACE)


@LOGO.refused(
    "image-icon", "the server cannot make its small icon of the logo", source=f"{MODELS} (logo icon)", stage=Stage.STORE
)
def _image_icon(bundle: Bundle) -> Iterator[Problem]:
    """The upload ends with the error of the picture library, and leaves half a competition behind.
    → Use an RGB PNG, roughly square.
    """
    logo = _logo(bundle)
    if logo and format_of(logo[1]) is not None and (fault := icon_fault(logo[1])):
        yield Problem(f"the icon of {logo[0]} cannot be made: {fault}", ("image",), order=(0,))
