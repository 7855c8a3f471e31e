"""The least that libvips does for a picture: decode it once, write a preview and a thumbnail.

Reads lines with a source and a folder, and answers each with a line.
"""

import sys

import pyvips

from bench.workload import PREVIEW_EDGE, THUMBNAIL_EDGE


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        source, folder = line.rstrip("\n").split("\t")
        preview = pyvips.Image.thumbnail(source, PREVIEW_EDGE).copy_memory()
        preview.jpegsave(f"{folder}/preview.jpg", Q=85)
        preview.thumbnail_image(THUMBNAIL_EDGE).jpegsave(f"{folder}/thumbnail.jpg", Q=80)
        print("done", flush=True)


if __name__ == "__main__":
    main()
