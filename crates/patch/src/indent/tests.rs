//! Tests reindentation of blocks.

use super::*;

const FOUR: &str = "a\n    b\n        c\n    d\n        e\n";
const TWO: &str = "a\n  b\n    c\n  d\n    e\n";
const TABS: &str = "a\n\tb\n\t\tc\n";

fn check(file: &str, pairs: &[(&str, &str)], new: &[&str], expected: Option<&[&str]>) {
    let file = FileText::new(file);
    let mut block: Vec<&str> = pairs.iter().map(|(old, _)| *old).collect();
    block.extend(new);
    let readings = IndentMappings::of(pairs);
    let result = readings.and_then(|readings| readings.apply(new, &block, &file));
    let expected = expected.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
    assert_eq!(result, expected, "{pairs:?} {new:?}");
}

#[test]
fn a_dedented_block_moves_as_one() {
    check(
        FOUR,
        &[("", "    "), ("    ", "        ")],
        &["        "],
        Some(&["            "]),
    );
    check(
        TABS,
        &[("", "\t"), ("\t", "\t\t")],
        &["\t\t"],
        Some(&["\t\t\t"]),
    );
}

#[test]
fn units_change_by_scale() {
    check(
        FOUR,
        &[("", ""), ("  ", "    ")],
        &["    "],
        Some(&["        "]),
    );
    check(
        TWO,
        &[("    ", "  "), ("        ", "    ")],
        &["            "],
        Some(&["      "]),
    );
    check(TABS, &[("    ", "\t")], &["        "], Some(&["\t\t"]));
    check(FOUR, &[("\t", "    ")], &["\t\t"], Some(&["        "]));
}

#[test]
fn one_level_is_read_by_the_unit_of_the_file() {
    check(FOUR, &[("  ", "    ")], &["    "], Some(&["        "]));
    check(
        TWO,
        &[("        ", "    ")],
        &["            "],
        Some(&["      "]),
    );
}

#[test]
fn what_can_be_read_in_two_ways_is_not() {
    check(FOUR, &[("    ", "        ")], &["        "], None);
}

#[test]
fn what_is_not_uniform_fits_nothing() {
    check(FOUR, &[("  ", "    "), ("   ", "    ")], &[""], None);
}
