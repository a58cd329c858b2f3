//! Times of commits as words.
//!
//! Pure: the current time is an argument. Times are seconds since 1970.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Mean length of a month.
const MONTH: i64 = 2_629_746;
const YEAR: i64 = 12 * MONTH;

/// Returns the time since `then` in its largest unit, such as `3 months ago`.
pub(crate) fn age(now: i64, then: i64) -> String {
    let passed = now.saturating_sub(then);
    if passed < MINUTE {
        return "just now".to_owned();
    }
    let units = [
        (YEAR, "year"),
        (MONTH, "month"),
        (7 * DAY, "week"),
        (DAY, "day"),
        (HOUR, "hour"),
        (MINUTE, "minute"),
    ];
    let unit = units.iter().find(|(length, _)| passed >= *length);
    let (length, name) = unit.copied().unwrap_or((MINUTE, "minute"));
    match passed / length {
        1 => format!("1 {name} ago"),
        count => format!("{count} {name}s ago"),
    }
}

/// Returns the age as a part of the ages from 0, now, to 1, ten years: recent times are spread more.
pub(crate) fn age_share(now: i64, then: i64) -> f32 {
    let days = now.saturating_sub(then).max(0) / DAY;
    let days = days as f32;
    ((days + 1.0).ln() / 3651.0_f32.ln()).clamp(0.0, 1.0)
}

/// Returns the date in UTC, as in `2026-11-29`.
pub(crate) fn date(seconds: i64) -> String {
    // The days since 0000-03-01, so that the leap day ends a year; eras have 400 years.
    let days = seconds.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::{DAY, HOUR, MINUTE, MONTH, YEAR, age, age_share, date};

    #[test]
    fn ages_use_the_largest_unit() {
        for (passed, words) in [
            (-5, "just now"),
            (59, "just now"),
            (MINUTE, "1 minute ago"),
            (HOUR - 1, "59 minutes ago"),
            (25 * HOUR, "1 day ago"),
            (13 * DAY, "1 week ago"),
            (3 * MONTH, "3 months ago"),
            (2 * YEAR, "2 years ago"),
        ] {
            assert_eq!(age(10 * YEAR, 10 * YEAR - passed), words, "{passed}");
        }
    }

    #[test]
    fn shares_grow_with_the_age() {
        let now = 50 * YEAR;
        assert!(age_share(now, now + DAY).abs() < f32::EPSILON);
        let shares = [0, DAY, 30 * DAY, YEAR, 9 * YEAR].map(|passed| age_share(now, now - passed));
        assert!(shares.is_sorted_by(|a, b| a < b), "{shares:?}");
        assert!((age_share(now, 0) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (1_700_000_000, "2023-11-14"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), expected, "{seconds}");
        }
    }
}
