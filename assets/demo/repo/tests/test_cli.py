"""The commands, run as a person runs them."""

import contextlib
import datetime
import io
import os
import tempfile
import unittest
from unittest import mock

from todo.cli import main

# A Wednesday.
TODAY = datetime.date(2026, 5, 13)


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "list.json")
        patch = mock.patch.dict(os.environ, {"TODO_FILE": path})
        patch.start()
        self.addCleanup(patch.stop)

    def run_todo(self, *arguments: str, status: int = 0) -> str:
        """What a command prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            self.assertEqual(main(list(arguments), TODAY), status)
        return output.getvalue().strip()

    def test_an_empty_list_says_so(self):
        self.assertEqual(self.run_todo("list"), "nothing to do")

    def test_a_task_is_added_and_listed(self):
        self.run_todo("add", "water the plants", "--due", "friday")
        self.assertEqual(self.run_todo("list"), "1  [ ]  water the plants  (due 2026-05-15)")

    def test_what_is_late_is_marked(self):
        self.run_todo("add", "taxes", "--due", "2026-05-01")
        self.assertTrue(self.run_todo("show", "1").endswith("OVERDUE"))

    def test_what_is_done_is_listed_only_on_request(self):
        self.run_todo("add", "one")
        self.assertEqual(self.run_todo("done", "1"), "done: one")
        self.assertEqual(self.run_todo("list"), "nothing to do")
        self.assertEqual(self.run_todo("list", "--all"), "1  [x]  one")

    def test_a_task_is_removed(self):
        self.run_todo("add", "one")
        self.assertEqual(self.run_todo("remove", "1"), "removed: one")

    def test_a_wrong_number_is_an_error(self):
        self.assertEqual(self.run_todo("done", "7", status=1), "todo: there is no task 7")


if __name__ == "__main__":
    unittest.main()
