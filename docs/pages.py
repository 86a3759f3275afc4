"""Makes pages of the repository pages of the book. mdBook runs it at each build, as book.toml says.

Links are written for the repository. A link to a page that SUMMARY.md names leads to that page in the book. A link to
any other file becomes the path of that file, and a picture goes into the page. A link to nothing ends the build.
"""

import base64
import json
import mimetypes
import os
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
REPOSITORY = DOCS.parent
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:!\[[^\]]*\]\([^)]*\)|[^\[\]])*)\]\(([^)\s]+)\)")


def chapters(items):
    """Yields all chapters that have a file."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter and chapter["source_path"]:
            yield chapter
            yield from chapters(chapter["sub_items"])


def in_repository(source):
    """Returns the path from the repository's folder, of a path from docs/."""
    return os.path.relpath(os.path.normpath(DOCS / source), REPOSITORY)


def in_book(source):
    """Returns the place of a page in the book."""
    place = os.path.normpath(source).removeprefix("../")
    return re.sub(r"\bREADME\.md$", "index.md", place)


def picture(file):
    """Returns a picture as an address that has all of it."""
    kind = mimetypes.guess_type(file)[0]
    return f"data:{kind};base64,{base64.b64encode((REPOSITORY / file).read_bytes()).decode()}"


def led(source, places, match):
    """Returns a link of the page `source` as it has to be in the book."""
    mark, text, target = match.groups()
    path, _, fragment = target.partition("#")
    if not path or "://" in target or target.startswith("mailto:"):
        return match.group()
    file = in_repository(os.path.join(os.path.dirname(source), path))
    if not (REPOSITORY / file).exists():
        sys.exit(f"{in_repository(source)} has a link to nothing: {target}")
    if mark:
        return f"![{text}]({picture(file)})"
    place = places.get(file) or places.get(os.path.join(file, "README.md"))
    if place is None:
        named = text.strip("`") in (file, os.path.basename(file))
        return f"`{file}`" if named else f"{text} (`{file}`)"
    way = os.path.relpath(place, os.path.dirname(in_book(source)) or ".")
    return f"[{text}]({way}{'#' + fragment if fragment else ''})"


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    pages = list(chapters(book["items"]))
    places = {in_repository(page["source_path"]): in_book(page["source_path"]) for page in pages}
    for page in pages:
        source = page["source_path"]
        page["path"] = in_book(source)
        parts = FENCED.split(page["content"])
        parts[::2] = [LINK.sub(lambda match: led(source, places, match), part) for part in parts[::2]]
        page["content"] = "".join(parts)
    json.dump(book, sys.stdout)


main()
