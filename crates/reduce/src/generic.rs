//! Lines that no tool-specific rule has marked. Alarming lines stay, repetitions are folded, and of
//! the remaining lines the first and last ones stay.

use std::collections::HashMap;

use super::log::{LogReducer, shape};

/// Number of lines kept at the beginning and at the end.
const ENDS: usize = 8;
/// Number of lines of one shape that are kept.
const ALIKE: usize = 3;
/// Number of unmarked lines that are few enough to keep.
const FEW: usize = 40;
/// Maximum number of alarming lines kept.
const ALARMING: usize = 60;

const WORDS: [&str; 17] = [
    "error",
    "fail",
    "panic",
    "exception",
    "fatal",
    "cannot",
    "can't",
    "undefined",
    "denied",
    "timed out",
    "timeout",
    "assert",
    "not found",
    "no such",
    "conflict",
    "refused",
    "unexpected",
];

/// Returns whether a line probably reports a failure, by its words. Lines such as `0 errors` do not
/// count.
pub(crate) fn is_alarming(line: &str) -> bool {
    let line = line.to_lowercase();
    let is_none =
        line.contains("0 errors") || line.contains("0 failed") || line.contains("no errors");
    !is_none && WORDS.iter().any(|word| line.contains(word))
}

/// Marks a log of an unknown tool. Folds similar lines. If the log is long, keeps only its first
/// and last lines and the lines that report failures.
pub(crate) fn mark(log: &mut LogReducer<'_>) {
    fold_alike(log);
    let open: Vec<usize> = (0..log.lines.len())
        .filter(|ix| log.is_open(*ix) && !log.lines[*ix].trim().is_empty())
        .collect();
    if open.len() <= FEW {
        return;
    }
    let mut alarming = 0;
    for (nth, ix) in open.iter().enumerate() {
        let is_end = nth < ENDS || nth + ENDS >= open.len();
        let alarms = is_alarming(log.lines[*ix]);
        alarming += usize::from(alarms);
        if is_end || (alarms && alarming <= ALARMING) {
            log.keep_line(*ix);
        } else {
            log.drop_line(*ix, "other lines");
        }
    }
    for ix in 0..log.lines.len() {
        if log.lines[ix].trim().is_empty() {
            log.drop_line(ix, "");
        }
    }
}

/// Folds lines that differ only in numbers and quoted names: the first ones and the last one stay.
fn fold_alike(log: &mut LogReducer<'_>) {
    let mut shapes: HashMap<String, Vec<usize>> = HashMap::new();
    for ix in 0..log.lines.len() {
        if log.is_open(ix) && !log.lines[ix].trim().is_empty() {
            shapes.entry(shape(log.lines[ix]).0).or_default().push(ix);
        }
    }
    for lines in shapes.values().filter(|lines| lines.len() > ALIKE + 2) {
        for ix in &lines[ALIKE..lines.len() - 1] {
            log.drop_line(*ix, "lines like others");
        }
    }
}
