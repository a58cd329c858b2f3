//! Clean-ups before a save.

use text::{LineEnding, Snapshot};

use super::tidy_edits;
use crate::save::SaveOptions;

const BOTH: SaveOptions = SaveOptions {
    trim_trailing_whitespace: true,
    final_newline: true,
};

fn check(before: &str, options: SaveOptions, ending: LineEnding, after: &str) {
    let mut text = before.to_owned();
    for edit in tidy_edits(&Snapshot::new(before), ending, options)
        .iter()
        .rev()
    {
        text.replace_range(edit.span.range(), &edit.text);
    }
    assert_eq!(text, after, "from {before:?}");
}

#[test]
fn trailing_blanks_go_and_last_line_ends() {
    let lf = LineEnding::Lf;
    check("a \n\t\nb", BOTH, lf, "a\n\nb\n");
    check("a\n", BOTH, lf, "a\n");
    check("", BOTH, lf, "");
    check("a  ", BOTH, lf, "a\n");
    check("a \r\nb\t\r\n", BOTH, LineEnding::CrLf, "a\r\nb\r\n");
    check("a", BOTH, LineEnding::CrLf, "a\r\n");
    check("ä \u{a0}\n", BOTH, lf, "ä \u{a0}\n");
    check("  \n  ", BOTH, lf, "\n");
}

#[test]
fn options_apply_independently() {
    let trim = SaveOptions {
        final_newline: false,
        ..BOTH
    };
    let end = SaveOptions {
        trim_trailing_whitespace: false,
        ..BOTH
    };
    check("a \nb ", trim, LineEnding::Lf, "a\nb");
    check("a \nb ", end, LineEnding::Lf, "a \nb \n");
    check("a \nb ", SaveOptions::default(), LineEnding::Lf, "a \nb ");
}
