"""The list and its file."""

import datetime
import pathlib
import tempfile
import unittest

from todo.store import NoSuchTask, Store


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.store = Store()
        self.store.add("one")
        self.store.add("two", datetime.date(2026, 5, 20))
        self.store.add("three", datetime.date(2026, 5, 15))

    def test_a_task_is_found_by_its_number(self):
        self.assertEqual(self.store.find_task(2).text, "two")
        with self.assertRaises(NoSuchTask):
            self.store.find_task(9)

    def test_an_empty_text_is_refused(self):
        with self.assertRaises(ValueError):
            self.store.add("  ")

    def test_what_is_due_comes_first(self):
        texts = [task.text for task in self.store.open_tasks()]
        self.assertEqual(texts, ["three", "two", "one"])

    def test_what_is_done_is_no_longer_open(self):
        self.store.finish(3)
        texts = [task.text for task in self.store.open_tasks()]
        self.assertEqual(texts, ["two", "one"])

    def test_numbers_are_never_used_twice(self):
        self.store.remove(3)
        self.assertEqual(self.store.add("four").id, 4)

    def test_the_file_holds_everything(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.json"
            self.store.finish(1)
            self.store.save(path)
            again = Store.load(path)
        self.assertEqual(again.tasks, self.store.tasks)
        self.assertEqual(again.next_id, 4)

    def test_a_missing_file_is_an_empty_list(self):
        self.assertEqual(Store.load(pathlib.Path("/nowhere/list.json")).tasks, [])


if __name__ == "__main__":
    unittest.main()
