"""Take the pictures in docs/images anew: the page, Perfetto offline, and a picture for a slide.

python tools/take_screenshots.py        # needs rung[perfetto,png], playwright, a Chromium
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from rung.insight.exhibit import exhibit
from rung.ladder.shipped import RECORDINGS
from rung.show.drawing.picture import picture
from rung.show.page import Scene, page
from rung.show.perfetto import Handed, serve
from rung.trace import read
from rung.trace.export import Part, export

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs/images"
MLP = RECORDINGS.relative_to(ROOT) / "h200/mlp"
VARIANTS = ("eager", "compiled", "liger", "rung")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def main() -> None:
    os.chdir(ROOT)  # so that the page shows where a recording lies in the project
    IMAGES.mkdir(exist_ok=True)
    told = [exhibit(read(MLP / f"{variant}.json.gz"), variant) for variant in VARIANTS]
    (IMAGES / "mlp.svg").write_text(picture(told))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        html = Path(folder) / "page.html"
        html.write_text(page([Scene("Side by side", tuple(told[:1]))]))
        _page(browser, html)
        _perfetto(browser, Path(folder))
        browser.close()


def _page(browser: Browser, html: Path) -> None:
    tab = browser.new_page(viewport={"width": 1180, "height": 1060}, color_scheme="light")
    tab.goto(html.as_uri())
    tab.wait_for_function("() => rung.timeline.view.width > 0")
    tab.locator("tr[data-row='4'] .find").click()
    tab.evaluate("() => scrollTo(0, 0)")
    tab.wait_for_timeout(300)
    tab.screenshot(path=IMAGES / "page.png")
    tab.close()


def _perfetto(browser: Browser, folder: Path) -> None:
    trace = read(MLP / "eager.json.gz")
    made = export([Part(trace.path, "eager")], folder / "eager.json")
    start = (trace.origin_ns + trace.regions[0].start_ns) / 1e9
    handed = Handed(made.path, "eager MLP", (start, start + trace.regions[0].wall_ns / 1e9))
    known, address = threading.Event(), []

    def opened(where: str) -> None:
        address.append(where)
        known.set()

    threading.Thread(target=serve, args=(handed, opened), kwargs={"patience_s": 7}, daemon=True).start()
    known.wait(10)
    tab = browser.new_page(viewport={"width": 1180, "height": 620})
    tab.goto(address[0])
    ui = tab.frames[1]
    ui.wait_for_function("() => window.app && app.trace && app.trace.engine", timeout=30_000)
    tab.wait_for_timeout(2000)
    for group in (244, 204):  # the GPU's tracks and the program's, unfolded
        tab.mouse.click(238, group)
        tab.wait_for_timeout(300)
    tab.wait_for_timeout(2500)
    tab.screenshot(path=IMAGES / "perfetto.png")
    tab.close()


if __name__ == "__main__":
    main()
