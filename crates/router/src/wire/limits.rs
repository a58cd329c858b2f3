//! Parses rate limits and waits from response headers.
//!
//! Header names are part of the protocols; none depends on a model.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::{RateLimit, RateLimits, TokenCount};

/// Header names of one limit: limit, remaining, reset.
type Names = [&'static str; 3];

const REQUESTS: &[Names] = &[
    [
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-reset",
    ],
    [
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
    ],
    [
        "x-ratelimit-limit-req-minute",
        "x-ratelimit-remaining-req-minute",
        "x-ratelimit-reset-req-minute",
    ],
    [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ],
];

const INPUT: &[Names] = &[
    [
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ],
    [
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-reset",
    ],
    [
        "x-ratelimit-limit-tokens",
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
    ],
    [
        "x-ratelimit-limit-tokens-minute",
        "x-ratelimit-remaining-tokens-minute",
        "x-ratelimit-reset-tokens-minute",
    ],
];

const OUTPUT: &[Names] = &[[
    "anthropic-ratelimit-output-tokens-limit",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
]];

/// Returns the limits in a response's headers, relative to `now`; `None` if there are none. Names
/// are lower case.
pub fn rate_limits(headers: &[(String, String)], now: SystemTime) -> Option<RateLimits> {
    let limits = RateLimits {
        requests: quantity(REQUESTS, headers, now),
        input_tokens: quantity(INPUT, headers, now),
        output_tokens: quantity(OUTPUT, headers, now),
        retry_after: retry_after(headers, now),
    };
    (limits != RateLimits::default()).then_some(limits)
}

/// Returns the wait that a response requests in `retry-after-ms` or `retry-after`, as seconds or as
/// a date relative to `now`. Returns `None` if both headers are absent or the value is invalid.
pub fn retry_after(headers: &[(String, String)], now: SystemTime) -> Option<Duration> {
    if let Some(milliseconds) = header(headers, "retry-after-ms") {
        return seconds(milliseconds.parse::<f64>().ok()? / 1000.0);
    }
    until(header(headers, "retry-after")?, now)
}

/// Returns the trimmed value of a header, or `None` if the header is absent. If the header is
/// repeated, returns the first value. `name` is in lower case.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(have, _)| have == name)?;
    Some(found.1.trim())
}

fn quantity(families: &[Names], headers: &[(String, String)], now: SystemTime) -> RateLimit {
    for [limit, remaining, reset] in families {
        let count = |name| header(headers, name).and_then(count);
        let found = RateLimit {
            limit: count(limit),
            remaining: count(remaining),
            reset: header(headers, reset).and_then(|text| until(text, now)),
        };
        if found.limit.is_some() || found.remaining.is_some() {
            return found;
        }
    }
    RateLimit::default()
}

/// Parses a number and drops its fraction; a negative number counts as zero. Returns `None` if the
/// text is not a finite number.
fn count(text: &str) -> Option<TokenCount> {
    // Some providers report a negative remainder, which counts as zero.
    let number = text
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())?;
    Some(TokenCount(number.max(0.0) as u64))
}

/// Parses a time or a duration in any of the providers' formats, as time from `now`.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        let since_epoch = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        // A number this large is a date: in milliseconds, or in seconds.
        return match number {
            number if number > 1.0e11 => seconds(number / 1000.0 - since_epoch.as_secs_f64()),
            number if number > 1.0e9 => seconds(number - since_epoch.as_secs_f64()),
            number => seconds(number),
        };
    }
    if let Some(moment) = internet_date(text).or_else(|| http_date(text)) {
        return Some(moment.duration_since(now).unwrap_or_default());
    }
    units(text)
}

/// Converts seconds to a duration; a negative number and NaN become zero. Returns `None` if the
/// number is too large for a duration.
fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.max(0.0)).ok()
}

/// Parses durations such as `1h2m3.5s`, `120ms`, `6m0s`.
fn units(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .filter(|end| *end > 0)?;
        let number = rest[..digits].parse::<f64>().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(rest.len());
        total += number
            * match &rest[..end] {
                "d" => 86400.0,
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                "us" | "µs" => 0.000_001,
                "ns" => 0.000_000_001,
                _ => return None,
            };
        rest = &rest[end..];
    }
    (!text.is_empty()).then(|| seconds(total))?
}

/// Parses dates such as `2026-11-21T17:30:00Z`, with or without fraction and offset.
fn internet_date(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once(['T', 't'])?;
    let mut date = date.splitn(3, '-');
    let year = date.next()?.parse().ok()?;
    let month = date.next()?.parse().ok()?;
    let day = date.next()?.parse().ok()?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let offset = match zone.strip_prefix(['Z', 'z']) {
        Some(_) => 0.0,
        None => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let size = hours.parse::<f64>().ok()? * 3600.0 + minutes.parse::<f64>().ok()? * 60.0;
            if zone.starts_with('-') { -size } else { size }
        }
    };
    moment(year, month, day, clock_seconds(clock)? - offset)
}

/// Parses dates such as `Sat, 21 Nov 2026 17:30:00 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    let mut words = text.split_once(',')?.1.split_whitespace();
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let year = words.next()?.parse().ok()?;
    let clock = clock_seconds(words.next()?)?;
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    moment(year, month, day, clock)
}

/// Parses a time of day such as `17:30:00` or `17:30:00.5` as seconds since midnight, without
/// checking the ranges. Returns `None` if a part is missing or not a number.
fn clock_seconds(clock: &str) -> Option<f64> {
    let mut parts = clock.splitn(3, ':');
    let hours = parts.next()?.parse::<f64>().ok()?;
    let minutes = parts.next()?.parse::<f64>().ok()?;
    let seconds = parts.next()?.parse::<f64>().ok()?;
    Some(hours * 3600.0 + minutes * 60.0 + seconds)
}

/// Returns the time of a date in UTC; `clock` is in seconds since its midnight, and may lie outside
/// that day. Returns `None` for a year before 1970 or above 9999, a month outside 1–12, or a day
/// outside 1–31; the length of the month is not checked. Times before 1970 become its start.
fn moment(year: i64, month: i64, day: i64, clock: f64) -> Option<SystemTime> {
    let sane =
        (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !sane {
        return None;
    }
    // Days since 1970 in the Gregorian calendar, with years that start in March.
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    UNIX_EPOCH.checked_add(seconds(days as f64 * 86400.0 + clock)?)
}

#[cfg(test)]
mod tests;
