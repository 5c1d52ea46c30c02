#!/usr/bin/env python3
"""The golden files that are XML or JSON, as a reader takes them: well-formed, nothing from outside, ids that are there."""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

FOLDER = pathlib.Path(__file__).parent


def check_svg(text):
    root = ElementTree.fromstring(text)
    ids = {e.get("id") for e in root.iter()}
    assert set(root.get("aria-labelledby").split()) <= ids, "a label that is not there"
    assert "dasharray" in text and "prefers-color-scheme" in text
    assert "var(" not in text, "many viewers know no variables, and draw nothing"
    outside = re.findall(r"(?:href|src)=|url\(|@import", text)
    assert not outside, outside


def check_html(text):
    assert text.startswith("<!DOCTYPE html>")
    assert not re.findall(r"src=|url\(|@import|<script|<link", text), "something from outside"
    targets, ids = set(re.findall(r'href="#([^"]*)"', text)), re.findall(r' id="([^"]*)"', text)
    assert targets <= set(ids) and len(ids) == len(set(ids)), "links and ids"
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        check_svg(picture)
    body = re.sub(r"<(!DOCTYPE[^>]*|meta[^>]*)>", "", text)
    ElementTree.fromstring(body)  # every tag is closed


def check_junit(text):
    suite = ElementTree.fromstring(text).find("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests"))
    for tag, key in [("failure", "failures"), ("error", "errors"), ("skipped", "skipped")]:
        assert sum(c.find(tag) is not None for c in cases) == int(suite.get(key)), tag


def check_sarif(text):
    log = json.loads(text)
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert rule["help"]["text"] and rule["shortDescription"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"] and result["locations"]
        for flow in result.get("codeFlows", []):
            assert len(flow["threadFlows"]) == 2 or result["ruleId"] == "deadlock" and len(flow["threadFlows"]) == 3
    assert any("suppressions" in r for r in run["results"])


def main():
    checks = {"timeline.svg": check_svg, "stuck.svg": check_svg, "document.html": check_html, "document.junit.xml": check_junit,
              "document.sarif": check_sarif}
    for name, check in checks.items():
        check((FOLDER / name).read_text())
    print(f"{len(checks)} passed, 0 failed, 0 skipped")


sys.exit(main())
