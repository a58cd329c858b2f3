//! Cron expressions of five fields, evaluated in a time zone.
//!
//! A time that a change of the clocks skips is moved forward by the length of the gap; a time that
//! occurs twice counts once, at its first occurrence.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Days that are searched for the next time: a 29 February comes at the latest after eight years.
const MAX_DAYS: u32 = 366 * 8 + 3;
/// Periods that are searched backwards for the latest time, in milliseconds; each is tried only if the
/// shorter ones contain none.
const LOOKBACKS_MS: [u64; 5] = [
    3_600_000,
    2 * 86_400_000,
    62 * 86_400_000,
    732 * 86_400_000,
    2_930 * 86_400_000,
];
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A cron expression with its time zone.
#[derive(Clone, Debug, PartialEq)]
pub struct CronSchedule {
    text: String,
    minutes: ValueSet,
    hours: ValueSet,
    days: ValueSet,
    months: ValueSet,
    weekdays: ValueSet,
    zone: TimeZone,
}

/// The reason why a cron expression or its zone cannot be read, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScheduleError(pub(crate) String);

/// A set of the numbers 0 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueSet {
    bits: u64,
    /// Whether the field was `*` or began with it, so that it restricts nothing by itself.
    is_any: bool,
}

/// The numbers and names that a field accepts.
struct FieldRange {
    name: &'static str,
    first: u8,
    last: u8,
    words: &'static [&'static str],
}

impl CronSchedule {
    /// Parses an expression: minute, hour, day of the month, month, day of the week. `zone` is the
    /// IANA name of a time zone; `None` is the zone of the system.
    pub fn parse(text: &str, zone: Option<&str>) -> Result<Self, ScheduleError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(ScheduleError(format!(
                "a schedule has five fields, minute, hour, day, month and weekday, not {}",
                fields.len()
            )));
        };
        let range = |name, first, last, words| FieldRange {
            name,
            first,
            last,
            words,
        };
        let mut weekdays = ValueSet::parse(weekday, &range("weekday", 0, 7, &DAYS))?;
        if weekdays.contains(7) {
            weekdays.bits |= 1;
        }
        let zone = match zone {
            None => TimeZone::system(),
            Some(name) => TimeZone::get(name)
                .map_err(|_| ScheduleError(format!("there is no time zone \"{name}\"")))?,
        };
        let schedule = Self {
            text: fields.join(" "),
            minutes: ValueSet::parse(minute, &range("minute", 0, 59, &[]))?,
            hours: ValueSet::parse(hour, &range("hour", 0, 23, &[]))?,
            days: ValueSet::parse(day, &range("day", 1, 31, &[]))?,
            months: ValueSet::parse(month, &range("month", 1, 12, &MONTHS))?,
            weekdays,
            zone,
        };
        match schedule.next_after(0) {
            Some(_) => Ok(schedule),
            None => Err(ScheduleError("no day fits this schedule".to_owned())),
        }
    }

    /// The expression as it was written, with single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the time zone, if it has one.
    pub fn zone_name(&self) -> Option<&str> {
        self.zone.iana_name()
    }

    /// Returns the first time after `after_ms`; both in milliseconds since 1970.
    pub fn next_after(&self, after_ms: u64) -> Option<u64> {
        let after = timestamp(after_ms)?;
        // The hour before as well: its times may have been moved by a change of the clocks.
        let start = self.zone.to_datetime(after);
        let mut date = start.date();
        let mut hour = i8::max(start.hour() - 1, 0);
        for _ in 0..MAX_DAYS {
            if self.is_day(date) {
                let found = self.first_of_day(date, hour, after);
                if found.is_some() {
                    return found.and_then(|it| u64::try_from(it.as_millisecond()).ok());
                }
            }
            date = date.tomorrow().ok()?;
            hour = 0;
        }
        None
    }

    /// Returns the latest time after `after_ms` that is not later than `until_ms`.
    pub(crate) fn latest_between(&self, after_ms: u64, until_ms: u64) -> Option<u64> {
        LOOKBACKS_MS.into_iter().find_map(|lookback| {
            let start = after_ms.max(until_ms.saturating_sub(lookback));
            let times = std::iter::successors(Some(start), |from| self.next_after(*from)).skip(1);
            times.take_while(|at| *at <= until_ms).last()
        })
    }

    /// Returns the first millisecond of the day that contains `now_ms`, in the schedule's zone.
    pub(crate) fn day_start(&self, now_ms: u64) -> u64 {
        day_start(&self.zone, now_ms)
    }

    fn is_day(&self, date: Date) -> bool {
        let weekday = number(date.weekday().to_sunday_zero_offset());
        let is_day = self.days.contains(number(date.day()));
        let is_weekday = self.weekdays.contains(weekday);
        // As in every cron: two restricted fields mean either of both.
        let fits = if self.days.is_any || self.weekdays.is_any {
            is_day && is_weekday
        } else {
            is_day || is_weekday
        };
        fits && self.months.contains(number(date.month()))
    }

    /// Returns the first time of a day, from the hour `first` on, that is later than `after`.
    fn first_of_day(&self, date: Date, first: i8, after: Timestamp) -> Option<Timestamp> {
        let hours = (first..24).filter(|hour| self.hours.contains(number(*hour)));
        let mut earliest: Option<Timestamp> = None;
        for hour in hours {
            let times = self.times_of_hour(date, hour).filter(|at| *at > after);
            let before = earliest;
            earliest = times.chain(earliest).min();
            // Times of a skipped hour are moved into the next one, which may have earlier ones.
            if before.is_some() {
                break;
            }
        }
        earliest
    }

    fn times_of_hour(&self, date: Date, hour: i8) -> impl Iterator<Item = Timestamp> + '_ {
        let minutes = (0..60).filter(|minute| self.minutes.contains(number(*minute)));
        minutes.filter_map(move |minute| {
            let time = Time::new(hour, minute, 0, 0).ok()?;
            let local = DateTime::from_parts(date, time);
            self.zone.to_ambiguous_timestamp(local).compatible().ok()
        })
    }
}

/// Returns the last millisecond of a day that is written as `2027-01-31`, in a time zone of this
/// name, or that of the system.
pub(crate) fn end_of_day(text: &str, zone: Option<&str>) -> Option<u64> {
    let date: Date = text.parse().ok()?;
    let zone = match zone {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(name).ok()?,
    };
    let next = date.tomorrow().ok()?.at(0, 0, 0, 0);
    let start = zone.to_ambiguous_timestamp(next).compatible().ok()?;
    u64::try_from(start.as_millisecond()).ok()?.checked_sub(1)
}

/// Returns the first millisecond of the day that contains `now_ms`, in the zone of the system.
pub(crate) fn system_day_start(now_ms: u64) -> u64 {
    day_start(&TimeZone::system(), now_ms)
}

/// Returns a time in milliseconds since 1970 as `2026-11-30 07:00`, in the zone of the system.
pub fn local_time(ms: u64) -> String {
    let local = timestamp(ms).map(|at| TimeZone::system().to_datetime(at));
    local.map_or_else(String::new, |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}

fn day_start(zone: &TimeZone, now_ms: u64) -> u64 {
    let start = timestamp(now_ms).and_then(|now| {
        let midnight = zone.to_datetime(now).date().at(0, 0, 0, 0);
        let start = zone.to_ambiguous_timestamp(midnight).compatible().ok()?;
        u64::try_from(start.as_millisecond()).ok()
    });
    start.unwrap_or(now_ms)
}

fn timestamp(ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()
}

/// A part of a date or time, which is never negative.
fn number(part: i8) -> u8 {
    u8::try_from(part).unwrap_or_default()
}

impl ValueSet {
    fn contains(self, value: u8) -> bool {
        self.bits & (1 << value) != 0
    }

    /// Parses a field: `*`, numbers, names, ranges and steps, separated by commas.
    fn parse(text: &str, range: &FieldRange) -> Result<Self, ScheduleError> {
        let mut set = Self {
            bits: 0,
            is_any: text.starts_with('*'),
        };
        for part in text.split(',') {
            let (span, step) = match part.split_once('/') {
                None => (part, None),
                Some((span, step)) => (span, Some(range.step(step)?)),
            };
            let (first, last) = range.span(span, step.is_some())?;
            for value in (first..=last).step_by(usize::from(step.unwrap_or(1))) {
                set.bits |= 1 << value;
            }
        }
        Ok(set)
    }
}

impl FieldRange {
    fn step(&self, text: &str) -> Result<u8, ScheduleError> {
        let step = text.parse::<u8>().ok().filter(|step| *step > 0);
        step.ok_or_else(|| ScheduleError(format!("\"{text}\" is no step of the {}", self.name)))
    }

    /// The first and last value of a part; a single value with a step lasts to the end.
    fn span(&self, text: &str, has_step: bool) -> Result<(u8, u8), ScheduleError> {
        if text == "*" {
            return Ok((self.first, self.last));
        }
        if let Some((first, last)) = text.split_once('-') {
            let (first, last) = (self.value(first)?, self.value(last)?);
            if first > last {
                let name = self.name;
                let why = format!("the range \"{text}\" of the {name} goes backwards");
                return Err(ScheduleError(why));
            }
            return Ok((first, last));
        }
        let value = self.value(text)?;
        Ok((value, if has_step { self.last } else { value }))
    }

    fn value(&self, text: &str) -> Result<u8, ScheduleError> {
        let word = text.to_ascii_lowercase();
        let named = self.words.iter().position(|it| *it == word);
        let named = named.and_then(|at| u8::try_from(at).ok());
        let value = named
            .map(|at| at + self.first)
            .or_else(|| text.parse().ok());
        let value = value.filter(|value| (self.first..=self.last).contains(value));
        value.ok_or_else(|| {
            ScheduleError(format!(
                "\"{text}\" is no {}; it is {} to {}",
                self.name, self.first, self.last
            ))
        })
    }
}

#[cfg(test)]
mod tests;
