"""Prints what a screen reader is told about Burin's windows: one line of JSON for each node.

Needs a session bus with the accessibility bus on it; waits until the program has appeared there.
"""

import json
import sys
import time

import pyatspi


def program(name, seconds):
    """The program on the accessibility bus; its windows come a moment after it."""
    end = time.time() + seconds
    while time.time() < end:
        for child in pyatspi.Registry.getDesktop(0):
            if child is not None and child.name == name and child.childCount > 0:
                return child
        time.sleep(0.2)
    sys.exit(f"{name} did not appear on the accessibility bus within {seconds} s")


def walk(node, depth, path):
    """Every node that is there, parents before their children."""
    states = node.getState()
    print(
        json.dumps(
            {
                "role": node.getRoleName(),
                "name": node.name,
                "depth": depth,
                "path": path,
                "focusable": states.contains(pyatspi.STATE_FOCUSABLE),
            }
        )
    )
    for child in node:
        if child is not None:
            walk(child, depth + 1, f"{path} > {child.getRoleName()} {child.name!r}")


walk(program(sys.argv[1], 20), 0, sys.argv[1])
