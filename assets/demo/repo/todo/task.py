"""One task, and how it is written to the file."""

import datetime
from dataclasses import dataclass
from typing import Optional


@dataclass
class Task:
    """Something to do."""

    id: int
    text: str
    due: Optional[datetime.date] = None
    is_done: bool = False

    def is_overdue(self, today: datetime.date) -> bool:
        """Whether it should have been done before today."""
        return not self.is_done and self.due is not None and self.due < today

    def to_json(self) -> dict:
        """The task as the file holds it."""
        return {
            "id": self.id,
            "text": self.text,
            "due": self.due.isoformat() if self.due else None,
            "done": self.is_done,
        }

    @classmethod
    def from_json(cls, data: dict) -> "Task":
        """The task that the file holds; raises KeyError or ValueError if it is none."""
        due = data.get("due")
        return cls(
            id=int(data["id"]),
            text=str(data["text"]),
            due=datetime.date.fromisoformat(due) if due else None,
            is_done=bool(data.get("done", False)),
        )
