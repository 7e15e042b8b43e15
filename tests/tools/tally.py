#!/usr/bin/python3
"""tally.py JUNIT_XML: print "N passed, N failed, N skipped"; exit 1 if something failed.

With CI=true a test may only be skipped for a reason that stands in tests/skips.txt; any other skip counts as failed.
"""
import os
import pathlib
import sys
import xml.etree.ElementTree

allowed = [line.strip() for line in (pathlib.Path(__file__).parents[1] / "skips.txt").read_text().splitlines()
           if line.strip() and not line.startswith("#")]
passed = failed = skipped = 0
for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
    name = f"{case.get('classname')}::{case.get('name')}"
    skip = case.find("skipped")
    # One test can have both: it failed, and so did its teardown.
    bad = len(case.findall("failure")) + len(case.findall("error"))
    if bad:
        failed += 1
    elif skip is not None:
        reason = skip.get("message") or ""
        if os.environ.get("CI") == "true" and not any(a in reason for a in allowed):
            print(f"skipped for a reason that tests/skips.txt does not list: {name}: {reason}")
            failed += 1
        else:
            skipped += 1
    else:
        passed += 1
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or not passed + skipped else 0)
