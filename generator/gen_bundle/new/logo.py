"""A plain picture to begin with: a letter on a colour that the name decides."""

import hashlib
import io

from gen_bundle.package.shipped import PLACEHOLDER

SIDE = 256


def placeholder_logo(name: str, title: str) -> bytes:
    """A PNG with the first letter of the title."""
    from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

    hue = int(hashlib.sha256(name.encode()).hexdigest()[:4], 16) % 360
    image = Image.new("RGB", (SIDE, SIDE), f"hsl({hue}, 45%, 38%)")
    letter = next((char for char in title + name if char.isascii() and char.isalnum()), "?").upper()
    font = ImageFont.load_default(SIDE * 0.6)
    ImageDraw.Draw(image).text((SIDE / 2, SIDE / 2), letter, fill="white", font=font, anchor="mm")
    about = PngImagePlugin.PngInfo()
    about.add_text("Comment", PLACEHOLDER)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", pnginfo=about)
    return buffer.getvalue()
