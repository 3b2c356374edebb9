#!/usr/bin/env python3
"""Opens a page in headless Chromium, performs steps there, and prints their results as JSON.

    browse.py STEPS.json

STEPS.json is a list of steps, performed in order in one browser:
    {"open": "page.html", "name": ...}     returns the milliseconds until the page was loaded
    {"run": "return 1 + 1", "name": ...}   returns the result of the script
    {"press": "\ue015\ue007"}              presses keys one after the other (codes as in WebDriver)
    {"scheme": "dark"}                     sets the reader's preferred colour scheme: dark or light
    {"print": ...}                         the name; returns the number of bytes of the page as PDF
    {"picture": "page.png"}                writes a screenshot
Prints {"results": {name: ...}, "console": [messages]}. The exit status is 77 without a browser.
"""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

NO_BROWSER = 77
# Nothing but the page is loaded, and the user's profile is not used.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1400,900"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """A session of WebDriver over plain HTTP requests."""

    def __init__(self, driver, chromium, folder):
        port = free_port()
        self.server = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        self.wait_for_server()
        options = {"binary": chromium, "args": [*FLAGS, f"--user-data-dir={folder}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL"}}
        made = self.post("/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += f"/session/{made['sessionId']}"

    def wait_for_server(self):
        for _ in range(100):
            try:
                urllib.request.urlopen(self.base + "/status", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def post(self, path, body):
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def run(self, script):
        return self.post("/execute/sync", {"script": script, "args": []})

    def open(self, page):
        self.post("/url", {"url": pathlib.Path(page).resolve().as_uri()})
        return self.run("return performance.getEntriesByType('navigation')[0].loadEventEnd")

    def press(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def prefer(self, scheme):
        wanted = {"name": "prefers-color-scheme", "value": scheme}
        self.post("/goog/cdp/execute",
                  {"cmd": "Emulation.setEmulatedMedia", "params": {"features": [wanted]}})

    def console(self):
        return [entry["message"] for entry in self.post("/se/log", {"type": "browser"})]

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.base, method="DELETE"), timeout=30)
        finally:
            self.server.terminate()
            self.server.wait()


def main():
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not driver or not chromium:
        sys.exit(NO_BROWSER)
    steps = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    results = {}
    with tempfile.TemporaryDirectory(prefix="tenon_browser_", ignore_cleanup_errors=True) as folder:
        browser = Browser(driver, chromium, folder)
        try:
            for step in steps:
                if "press" in step:
                    browser.press(step["press"])
                elif "scheme" in step:
                    browser.prefer(step["scheme"])
                elif "print" in step:
                    results[step["print"]] = len(base64.b64decode(browser.post("/print", {})))
                elif "picture" in step:
                    with urllib.request.urlopen(browser.base + "/screenshot") as answer:
                        picture = base64.b64decode(json.load(answer)["value"])
                    pathlib.Path(step["picture"]).write_bytes(picture)
                elif "open" in step:
                    results[step["name"]] = browser.open(step["open"])
                else:
                    results[step["name"]] = browser.run(step["run"])
            console = browser.console()
        finally:
            browser.close()
    print(json.dumps({"results": results, "console": console}))


if __name__ == "__main__":
    main()
