//! Tests which anchors are shown, found again and refused.

use super::*;
use crate::edit::{AnchoredAction, AnchoredEdit, LineAnchor, PatchOperation};
use crate::mark::StaleGuard;
use crate::outcome::{HunkDifference, HunkOutcome, HunkRefusal};
use crate::plan::{EditPlan, plan};

const TEXT: &str = "one\ntwo\nthree\nfour\n";

fn line_anchor(row: u32, line: &str) -> LineAnchor {
    LineAnchor {
        row: Row(row),
        hash: line_hash(line),
    }
}

fn edit(first: LineAnchor, last: LineAnchor, action: AnchoredAction) -> EditPlan {
    run(TEXT, first, last, action)
}

fn run(text: &str, first: LineAnchor, last: LineAnchor, action: AnchoredAction) -> EditPlan {
    let operations = vec![AnchoredEdit {
        first,
        last,
        action,
        source: 0..0,
    }];
    plan(
        &FileText::new(text),
        &PatchOperation::Anchored { operations },
        StaleGuard::Off,
    )
}

#[test]
fn hashes_do_not_change() {
    assert_eq!(line_hash(""), "f011");
    assert_eq!(line_hash("fn main() {"), line_hash("fn main() {  "));
    assert_ne!(line_hash("fn main() {"), line_hash(" fn main() {"));
    assert_eq!(
        render(&FileText::new("a\n"), Row(0)..Row(9)),
        format!("1#{}|a\n", line_hash("a"))
    );
}

#[test]
fn lines_are_replaced_and_inserted() {
    let planned = edit(
        line_anchor(1, "two"),
        line_anchor(2, "three"),
        AnchoredAction::Replace("x\n".to_owned()),
    );
    assert_eq!(planned.apply(TEXT), "one\nx\nfour\n");
    assert_eq!(planned.hunks[0].outcome, HunkOutcome::Exact);
    let planned = edit(
        line_anchor(0, "one"),
        line_anchor(0, "one"),
        AnchoredAction::InsertBefore("x\n".to_owned()),
    );
    assert_eq!(planned.apply(TEXT), "x\none\ntwo\nthree\nfour\n");
    let planned = edit(
        line_anchor(3, "four"),
        line_anchor(3, "four"),
        AnchoredAction::InsertAfter("x\n".to_owned()),
    );
    assert_eq!(planned.apply(TEXT), "one\ntwo\nthree\nfour\nx\n");
}

#[test]
fn a_line_that_moved_is_found_near() {
    let text = "new\nnew\none\ntwo\nthree\n";
    let planned = run(
        text,
        line_anchor(1, "two"),
        line_anchor(1, "two"),
        AnchoredAction::Replace("2\n".to_owned()),
    );
    assert_eq!(planned.apply(text), "new\nnew\none\n2\nthree\n");
    assert_eq!(planned.hunks[0].differences, [HunkDifference::Moved]);
    // Refused: two nearby lines match, or the line is too far away.
    let far = format!("{}two\n", "x\n".repeat(40));
    for text in ["a\n0\ntwo\ntwo\n", far.as_str()] {
        let planned = run(
            text,
            line_anchor(1, "two"),
            line_anchor(1, "two"),
            AnchoredAction::Replace("2\n".to_owned()),
        );
        assert_eq!(
            planned.hunks[0].refusal.as_ref().map(HunkRefusal::name),
            Some("anchor-moved"),
            "{text}"
        );
    }
    let text = "one\ntwo\nnew\nthree\n";
    let planned = run(
        text,
        line_anchor(1, "two"),
        line_anchor(2, "three"),
        AnchoredAction::Replace("2\n".to_owned()),
    );
    assert_eq!(
        planned.hunks[0].refusal.as_ref().map(HunkRefusal::name),
        Some("anchor-moved")
    );
}

#[test]
fn a_lost_anchor_is_answered_with_the_present_ones() {
    let planned = edit(
        line_anchor(1, "lost"),
        line_anchor(1, "lost"),
        AnchoredAction::Replace("2\n".to_owned()),
    );
    let report = &planned.hunks[0];
    assert_eq!(report.outcome, HunkOutcome::Rejected);
    let shown = render(&FileText::new(TEXT), Row(0)..Row(4));
    assert_eq!(report.nearest[0].text, shown.trim_end());
}
