"""The list of tasks, kept in one JSON file."""

import datetime
import json
import os
import pathlib
from typing import Iterator, List, Optional

from todo.task import Task


class NoSuchTask(Exception):
    """There is no task of this number."""


class Store:
    """Tasks in the order in which they were added. Numbers are never used twice."""

    def __init__(self, tasks: Optional[List[Task]] = None, next_id: int = 1):
        self.tasks = tasks or []
        self.next_id = next_id

    def add(self, text: str, due: Optional[datetime.date] = None) -> Task:
        """Adds a task; its text must not be empty."""
        text = text.strip()
        if not text:
            raise ValueError("a task needs a text")
        task = Task(self.next_id, text, due)
        self.next_id += 1
        self.tasks.append(task)
        return task

    def find_task(self, task_id: int) -> Task:
        """The task of this number; raises NoSuchTask."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise NoSuchTask(f"there is no task {task_id}")

    def finish(self, task_id: int) -> Task:
        """Marks a task as done; raises NoSuchTask."""
        task = self.find_task(task_id)
        task.is_done = True
        return task

    def remove(self, task_id: int) -> Task:
        """Takes a task off the list; raises NoSuchTask."""
        task = self.find_task(task_id)
        self.tasks.remove(task)
        return task

    def open_tasks(self) -> Iterator[Task]:
        """What is still to be done: due dates first, the earliest at the top."""
        waiting = [task for task in self.tasks if not task.is_done]
        return iter(sorted(waiting, key=lambda task: (task.due is None, task.due or datetime.date.max, task.id)))

    def save(self, path: pathlib.Path) -> None:
        """Writes the file whole or not at all."""
        data = {"next": self.next_id, "tasks": [task.to_json() for task in self.tasks]}
        draft = path.with_name(path.name + ".new")
        draft.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        os.replace(draft, path)

    @classmethod
    def load(cls, path: pathlib.Path) -> "Store":
        """Reads the file; a missing one is an empty list."""
        if not path.exists():
            return cls()
        data = json.loads(path.read_text(encoding="utf-8"))
        tasks = [Task.from_json(item) for item in data["tasks"]]
        return cls(tasks, int(data["next"]))
