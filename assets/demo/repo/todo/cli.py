"""The commands."""

import argparse
import datetime
import os
import pathlib
import sys
from typing import List, Optional

from todo.dates import parse_due
from todo.store import NoSuchTask, Store
from todo.task import Task


def list_path() -> pathlib.Path:
    """Where the list lies."""
    return pathlib.Path(os.environ.get("TODO_FILE") or pathlib.Path.home() / ".todo.json")


def describe(task: Task, today: datetime.date) -> str:
    """A task as one line."""
    mark = "x" if task.is_done else " "
    line = f"{task.id}  [{mark}]  {task.text}"
    if task.due:
        line += f"  (due {task.due.isoformat()})"
    if task.is_overdue(today):
        line += "  OVERDUE"
    return line


def run_add(store: Store, options: argparse.Namespace, today: datetime.date) -> str:
    due = parse_due(options.due, today) if options.due else None
    return describe(store.add(options.text, due), today)


def run_list(store: Store, options: argparse.Namespace, today: datetime.date) -> str:
    tasks = store.tasks if options.all else store.open_tasks()
    lines = [describe(task, today) for task in tasks]
    return "\n".join(lines) if lines else "nothing to do"


def run_show(store: Store, options: argparse.Namespace, today: datetime.date) -> str:
    return describe(store.find_task(options.id), today)


def run_done(store: Store, options: argparse.Namespace, today: datetime.date) -> str:
    return f"done: {store.finish(options.id).text}"


def run_remove(store: Store, options: argparse.Namespace, today: datetime.date) -> str:
    return f"removed: {store.remove(options.id).text}"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="todo", description="A to-do list for the terminal.")
    commands = parser.add_subparsers(dest="command", required=True)

    add = commands.add_parser("add", help="add a task")
    add.add_argument("text")
    add.add_argument("--due", help="when it is due, such as 2026-05-15, friday or in 3 days")
    add.set_defaults(run=run_add)

    listing = commands.add_parser("list", help="show what is to be done")
    listing.add_argument("--all", action="store_true", help="show what is done, too")
    listing.set_defaults(run=run_list)

    show = commands.add_parser("show", help="show one task")
    show.add_argument("id", type=int)
    show.set_defaults(run=run_show)

    done = commands.add_parser("done", help="mark a task as done")
    done.add_argument("id", type=int)
    done.set_defaults(run=run_done)

    remove = commands.add_parser("remove", help="take a task off the list")
    remove.add_argument("id", type=int)
    remove.set_defaults(run=run_remove)

    return parser


def main(arguments: List[str], today: Optional[datetime.date] = None) -> int:
    """Runs one command; the exit status."""
    options = build_parser().parse_args(arguments)
    path = list_path()
    try:
        store = Store.load(path)
        print(options.run(store, options, today or datetime.date.today()))
        store.save(path)
    except (NoSuchTask, ValueError, OSError) as error:
        print(f"todo: {error}", file=sys.stderr)
        return 1
    return 0
