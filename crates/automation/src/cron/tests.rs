//! Tests times of schedules, also around changes of the clocks.

use super::*;

/// Milliseconds since 1970 of a time such as `2026-03-29T01:00:00Z`.
fn ms(text: &str) -> u64 {
    let at: Timestamp = text.parse().expect("a time");
    u64::try_from(at.as_millisecond()).expect("after 1970")
}

fn schedule(text: &str, zone: &str) -> CronSchedule {
    CronSchedule::parse(text, Some(zone)).expect(text)
}

/// Checks the times that follow `after`, in UTC.
fn check(text: &str, zone: &str, after: &str, expected: &[&str]) {
    let schedule = schedule(text, zone);
    let times = std::iter::successors(Some(ms(after)), |from| schedule.next_after(*from));
    let times: Vec<u64> = times.skip(1).take(expected.len()).collect();
    let expected: Vec<u64> = expected.iter().map(|text| ms(text)).collect();
    assert_eq!(times, expected, "{text} in {zone} after {after}");
}

#[test]
fn fields_take_lists_ranges_steps_and_names() {
    let after = "2026-11-27T06:00:00Z";
    check(
        "0 7 * * 1-5",
        "UTC",
        after,
        &["2026-11-27T07:00:00Z", "2026-11-30T07:00:00Z"],
    );
    check(
        "5/20 6 * * FRI",
        "UTC",
        after,
        &[
            "2026-11-27T06:05:00Z",
            "2026-11-27T06:25:00Z",
            "2026-11-27T06:45:00Z",
            "2026-12-04T06:05:00Z",
        ],
    );
    check(
        "0 0 1 jan,mar *",
        "UTC",
        after,
        &["2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"],
    );
    check("0 12 * * 7", "UTC", after, &["2026-11-29T12:00:00Z"]);
    // Day and weekday together mean either of both.
    check(
        "0 0 1 * mon",
        "UTC",
        after,
        &["2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"],
    );
}

#[test]
fn months_without_the_day_are_skipped() {
    let after = "2027-01-01T00:00:00Z";
    check(
        "0 9 31 * *",
        "UTC",
        after,
        &[
            "2027-01-31T09:00:00Z",
            "2027-03-31T09:00:00Z",
            "2027-05-31T09:00:00Z",
        ],
    );
    check("0 0 29 2 *", "UTC", after, &["2028-02-29T00:00:00Z"]);
}

#[test]
fn skipped_time_fires_once_after_the_gap() {
    // Clocks go from 02:00 to 03:00 at 01:00 UTC.
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"],
    );
    check(
        "*/30 2-3 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &[
            "2026-03-29T01:00:00Z",
            "2026-03-29T01:30:00Z",
            "2026-03-30T00:00:00Z",
        ],
    );
}

#[test]
fn repeated_time_fires_once() {
    // Clocks go from 03:00 to 02:00 at 01:00 UTC: 02:30 occurs at 00:30 and at 01:30 UTC.
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
    );
    // A scheduler that looks within the repeated hour finds the next day's time.
    check(
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-25T01:10:00Z",
        &["2026-10-26T01:30:00Z"],
    );
}

#[test]
fn half_hour_gap_keeps_the_order_of_times() {
    // On Lord Howe Island clocks go from 02:00 to 02:30.
    check(
        "10,35 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T12:00:00Z",
        &["2026-10-03T15:35:00Z", "2026-10-03T15:40:00Z"],
    );
}

#[test]
fn latest_time_is_found_after_any_sleep() {
    let check = |text: &str, after: &str, until: &str, expected: Option<&str>| {
        let found = schedule(text, "UTC").latest_between(ms(after), ms(until));
        assert_eq!(found, expected.map(ms), "{text}");
    };
    let woke = "2026-11-29T08:12:30Z";
    check(
        "* * * * *",
        "2026-11-26T08:00:00Z",
        woke,
        Some("2026-11-29T08:12:00Z"),
    );
    check(
        "0 7 * * 1-5",
        "2026-11-20T08:00:00Z",
        woke,
        Some("2026-11-27T07:00:00Z"),
    );
    check(
        "0 0 1 1 *",
        "2024-11-20T08:00:00Z",
        woke,
        Some("2026-01-01T00:00:00Z"),
    );
    check("0 7 * * *", "2026-11-29T07:00:00Z", woke, None);
    // The clock was set back behind the latest occurrence.
    check("* * * * *", "2026-11-29T09:00:00Z", woke, None);
}

#[test]
fn wrong_expressions_are_refused_with_the_reason() {
    let check = |text: &str, reason: &str| {
        let error = CronSchedule::parse(text, None).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    };
    check("0 7 * *", "five fields");
    check("60 7 * * *", "\"60\" is no minute");
    check("0 7 * * 5-1", "goes backwards");
    check("*/0 7 * * *", "no step");
    check("0 7 * * someday", "no weekday");
    check("0 0 31 2 *", "no day fits");
    let error = CronSchedule::parse("0 7 * * *", Some("Mars/Base"));
    assert!(
        error
            .expect_err("no zone")
            .to_string()
            .contains("Mars/Base")
    );
}

#[test]
fn days_begin_and_end_at_midnight_of_the_zone() {
    let berlin = schedule("0 7 * * *", "Europe/Berlin");
    assert_eq!(
        berlin.day_start(ms("2026-11-29T23:30:00Z")),
        ms("2026-11-29T23:00:00Z")
    );
    assert_eq!(
        end_of_day("2026-11-29", Some("Europe/Berlin")),
        Some(ms("2026-11-29T23:00:00Z") - 1)
    );
    assert_eq!(end_of_day("2026-13-01", None), None);
}
