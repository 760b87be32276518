"""A headless Chromium for tests, measurements and pictures of the page of a run."""

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PATIENCE = 180
"""Seconds that a busy machine may take."""
SIZES = ((1400, 900), (390, 844))
"""Width and height of a desktop's window and of a phone's."""
AXE = Path(__file__).with_name("axe-core-4.14.1.min.js")


def find_chromium() -> tuple[str, str] | None:
    """Return the paths of Chromium and of its driver, or None if one is not installed."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Page:
    """A page in the browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str, width: int = 1400, height: int = 900, dark: bool = False) -> None:
        """Open an address at a size and in a colour scheme, and wait until all is drawn."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get("about:blank")  # another part of the same file would not be loaded anew
        self.driver.get(address)
        self.wait(
            "!document.scripts.length || document.documentElement.dataset.ready === 'all'"
        )  # or without programs

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str, seconds: float = _PATIENCE) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > end:
                raise AssertionError(f"not true after {seconds} s: {condition}\n{self.list_errors()}")
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press keys on what has the focus."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def list_errors(self) -> list[str]:
        """Return what the browser complained about since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def list_requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call, beside data of the file itself."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent if not each["request"]["url"].startswith("data:")]

    def check_accessibility(self) -> list[str]:
        """Return violations that axe-core finds, and what it doubts, but for contrasts that it cannot see."""
        self.run(AXE.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run()"
            ".then(({ violations, incomplete }) => done([...violations,"
            " ...incomplete.filter((each) => each.id !== 'color-contrast')]))"
        )
        return [f"{each['id']}: {each['nodes'][0]['html']}: {each['nodes'][0]['failureSummary']}"
                for each in found]  # fmt: skip

    def take_picture(self, path: Path, width: int, height: int) -> None:
        """Save the top of the page as PNG."""
        area = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": area}
        )
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def start_browser() -> Iterator[Page]:
    """Start a headless Chromium; it ends with the block."""
    from selenium import webdriver

    found = find_chromium()
    if found is None:
        raise RuntimeError("no Chromium: tests/explorer/install.sh installs it")
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    arguments = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
    arguments += ["--no-sandbox"] if os.getuid() == 0 else []
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
    driver.set_script_timeout(_PATIENCE)
    driver.set_page_load_timeout(_PATIENCE)
    try:
        yield Page(driver)
    finally:
        driver.quit()
