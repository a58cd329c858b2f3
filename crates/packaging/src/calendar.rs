//! Dates of the Gregorian calendar in the forms that packages use, always in UTC.

const SECONDS_OF_A_DAY: u64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const LENGTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A day since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CalendarDay {
    year: u64,
    /// From 1 to 12.
    month: u64,
    /// From 1 to the length of the month.
    day: u64,
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn length(year: u64, month: u64) -> u64 {
    let usual = LENGTHS.get((month - 1) as usize).copied();
    usual.unwrap_or_default() + u64::from(month == 2 && is_leap(year))
}

impl CalendarDay {
    /// Parses `2026-11-30`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let [year, month, day] = text.split('-').collect::<Vec<_>>()[..] else {
            return None;
        };
        let (year, month, day) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
        let is_valid = (1970..10_000).contains(&year)
            && (1..=12).contains(&month)
            && (1..=length(year, month)).contains(&day);
        is_valid.then_some(Self { year, month, day })
    }

    /// Returns the day of a time in seconds since 1970.
    fn of(epoch: u64) -> Self {
        let mut days = epoch / SECONDS_OF_A_DAY;
        let mut year = 1970;
        while days >= 365 + u64::from(is_leap(year)) {
            days -= 365 + u64::from(is_leap(year));
            year += 1;
        }
        let mut month = 1;
        while days >= length(year, month) {
            days -= length(year, month);
            month += 1;
        }
        let day = days + 1;
        Self { year, month, day }
    }

    /// Returns the number of days since 1970-01-01.
    fn number(self) -> u64 {
        let years = (1970..self.year).map(|year| 365 + u64::from(is_leap(year)));
        let months = (1..self.month).map(|month| length(self.year, month));
        years.sum::<u64>() + months.sum::<u64>() + self.day - 1
    }

    /// Returns the time of noon in seconds since 1970.
    pub(crate) fn noon(self) -> u64 {
        self.number() * SECONDS_OF_A_DAY + SECONDS_OF_A_DAY / 2
    }

    /// Returns noon of the day in the form of Debian changelogs: `Mon, 30 Nov 2026 12:00:00 +0000`.
    pub(crate) fn debian(self) -> String {
        // 1970 began on a Thursday.
        let weekday = WEEKDAYS[((self.number() + 3) % 7) as usize];
        let month = MONTHS[(self.month - 1) as usize];
        let Self { year, day, .. } = self;
        format!("{weekday}, {day:02} {month} {year} 12:00:00 +0000")
    }

    /// Returns the day in the form `2026-11-30`.
    pub(crate) fn iso(self) -> String {
        let Self { year, month, day } = self;
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Returns a time in seconds since 1970 in the form `2026-11-30T03:08:33Z`.
pub(crate) fn timestamp(epoch: u64) -> String {
    let day = CalendarDay::of(epoch).iso();
    let second = epoch % SECONDS_OF_A_DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{day}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::{CalendarDay, SECONDS_OF_A_DAY, timestamp};

    #[test]
    fn days_and_numbers_agree_over_a_century() {
        let mut day = CalendarDay::parse("1970-01-01").expect("a day");
        for number in 0..36_525 {
            let next = CalendarDay::of(number * SECONDS_OF_A_DAY);
            assert_eq!(next.number(), number);
            assert_eq!(CalendarDay::parse(&next.iso()), Some(next));
            assert!(number == 0 || next > day, "{next:?} after {day:?}");
            day = next;
        }
        assert_eq!(day.iso(), "2069-12-31");
    }

    #[test]
    fn times_have_the_forms_of_packages() {
        assert_eq!(timestamp(1_796_008_113), "2026-11-30T03:08:33Z");
        assert_eq!(timestamp(951_782_400), "2000-02-29T00:00:00Z");
        let day = CalendarDay::parse("2026-11-30").expect("a day");
        assert_eq!(day.debian(), "Mon, 30 Nov 2026 12:00:00 +0000");
        assert_eq!(timestamp(day.noon()), "2026-11-30T12:00:00Z");
    }

    #[test]
    fn impossible_days_are_refused() {
        for text in [
            "",
            "2026-11",
            "2026-13-01",
            "2026-02-29",
            "2026-04-31",
            "1969-12-31",
            "x-1-1",
        ] {
            assert_eq!(CalendarDay::parse(text), None, "{text}");
        }
    }
}
