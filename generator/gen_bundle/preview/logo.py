"""The logo as a small picture of our own making, so that no stranger's image file reaches the browser."""

import base64
import io
import warnings

PIXELS = 192
MAX_BYTES = 20_000_000
MAX_PIXELS = 40_000_000


def logo_address(content: bytes) -> str:
    """A PNG of at most `PIXELS` pixels a side as a `data:` address.

    Raises:
        ValueError: no PNG, JPEG, GIF or WebP that can be read, or one of enormous size.
    """
    from PIL import Image

    if len(content) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES / 1e6:g} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(content), formats=["PNG", "JPEG", "GIF", "WEBP"])
        if image.width * image.height > MAX_PIXELS:
            raise ValueError(f"{image.width} × {image.height} pixels")
        image.thumbnail((PIXELS, PIXELS))
        small = io.BytesIO()
        image.convert("RGBA").save(small, "PNG")
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()
