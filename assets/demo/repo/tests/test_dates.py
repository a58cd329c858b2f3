"""What --due understands."""

import datetime
import unittest

from todo.dates import parse_due

# A Wednesday.
TODAY = datetime.date(2026, 5, 13)


class ParseDueTest(unittest.TestCase):
    def check(self, text: str, year: int, month: int, day: int) -> None:
        self.assertEqual(parse_due(text, TODAY), datetime.date(year, month, day))

    def test_iso_dates(self):
        self.check("2026-12-24", 2026, 12, 24)

    def test_today_and_tomorrow(self):
        self.check("today", 2026, 5, 13)
        self.check(" Tomorrow ", 2026, 5, 14)

    def test_counted_days_and_weeks(self):
        self.check("in 3 days", 2026, 5, 16)
        self.check("in 1 week", 2026, 5, 20)

    def test_a_weekday_later_this_week(self):
        self.check("friday", 2026, 5, 15)

    def test_a_weekday_of_next_week(self):
        self.check("monday", 2026, 5, 18)

    def test_a_weekday_is_never_today(self):
        self.check("wednesday", 2026, 5, 20)

    def test_anything_else_is_an_error_that_helps(self):
        with self.assertRaisesRegex(ValueError, "'someday' is no date; try"):
            parse_due("someday", TODAY)


if __name__ == "__main__":
    unittest.main()
