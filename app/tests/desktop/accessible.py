"""Prints what a screen reader is told about Burin's windows: one line of JSON for each node.

Needs a session bus with the accessibility bus on it; waits until the program has appeared there.
"""

import json
import sys
import time

import pyatspi
from gi.repository import GLib

# Seconds until a program that does not appear, or a tree that never rests, is given up.
LIMIT = 20


def program(name):
    """The program on the accessibility bus; its windows come a moment after it."""
    end = time.time() + LIMIT
    while time.time() < end:
        for child in pyatspi.Registry.getDesktop(0):
            if child is not None and child.name == name and child.childCount > 0:
                return child
        time.sleep(0.2)
    sys.exit(f"{name} did not appear on the accessibility bus within {LIMIT} s")


def walk(node, depth, path, found):
    """Appends every node that is there to `found`, parents before their children."""
    states = node.getState()
    found.append(
        {
            "role": node.getRoleName(),
            "name": node.name,
            "depth": depth,
            "path": path,
            "focusable": states.contains(pyatspi.STATE_FOCUSABLE),
        }
    )
    for child in node:
        if child is not None:
            walk(child, depth + 1, f"{path} > {child.getRoleName()} {child.name!r}", found)


def nodes(name):
    """All nodes of one state of the windows.

    A frame that is drawn during a walk may remove a node that the walk is about to read. The nodes
    read so far belong to the former frame then, so the walk begins again.
    """
    end = time.time() + LIMIT
    while True:
        found = []
        try:
            walk(program(name), 0, name, found)
            return found
        except GLib.GError:
            if time.time() > end:
                raise
            time.sleep(0.1)


for node in nodes(sys.argv[1]):
    print(json.dumps(node))
