"""Take the pictures of docs/explorer.md: the page of a run, wide and light, narrow and dark.

python -m tests.explorer.take_pictures results/demo/index.html
"""

import sys
from pathlib import Path

from PIL import Image
from tests.explorer.browser import start_browser

_DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = (("explorer.png", 1400, 910, False), ("explorer-phone.png", 390, 1330, True))


def take_pictures(page: Path, folder: Path) -> None:
    """Save both pictures, with 255 colours: they stay below 200 KB."""
    with start_browser() as browser:
        for name, width, height, dark in PICTURES:
            browser.open(page.resolve().as_uri(), width, 900, dark)
            browser.take_picture(folder / name, width, height)
            with Image.open(folder / name) as picture:
                small = picture.convert("RGB").quantize(255, dither=Image.Dither.NONE)
            small.save(folder / name, optimize=True)


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]), _DOCS)
