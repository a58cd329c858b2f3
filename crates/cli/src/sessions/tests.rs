//! Lines and ages.

use super::{age, list};

#[test]
fn ages_are_told_in_the_unit_that_fits() {
    let ages = [5_000, 65_000, 7_300_000, 400_000_000].map(age);
    assert_eq!(ages, ["5 s", "1 min", "2 h", "4 days"]);
}

#[test]
fn no_sessions_are_no_error() {
    assert!(list(&[], false).contains("no sessions yet"));
    assert_eq!(list(&[], true), "[]\n");
}
