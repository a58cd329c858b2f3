"""What --due understands."""

import datetime
import re

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def parse_due(text: str, today: datetime.date) -> datetime.date:
    """The day that a text means; raises ValueError if it means none."""
    words = text.strip().lower()
    if words == "today":
        return today
    if words == "tomorrow":
        return today + datetime.timedelta(days=1)
    if words in WEEKDAYS:
        return next_weekday(today, WEEKDAYS.index(words))
    match = re.fullmatch(r"in (\d+) (day|week)s?", words)
    if match:
        count = int(match.group(1))
        days = count * 7 if match.group(2) == "week" else count
        return today + datetime.timedelta(days=days)
    try:
        return datetime.date.fromisoformat(words)
    except ValueError:
        raise ValueError(f"{text!r} is no date; try 2026-05-15, tomorrow, friday or in 3 days") from None


def next_weekday(today: datetime.date, weekday: int) -> datetime.date:
    """The next such weekday, counted from 0 for Monday: never today."""
    days = (weekday - today.weekday()) % 7
    return today + datetime.timedelta(days=days)
