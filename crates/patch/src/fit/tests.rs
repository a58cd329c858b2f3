//! Tests changes next to lines that only the block or only the file has.

use std::rc::Rc;

use super::*;
use crate::block::LineBlock;
use crate::edit::Grain;

/// Fits a block whose lines are at the rows of `map` into `before`; `after` is the expected text,
/// or the ambiguity.
fn check(
    before: &str,
    old: &str,
    new: &str,
    map: &[Option<usize>],
    after: Result<&str, Ambiguity>,
) {
    let file = FileText::new(before);
    let block = LineBlock::new(old, new, Grain::Lines, false).expect("whole lines");
    let rows: Vec<usize> = map.iter().flatten().copied().collect();
    let aligned = BlockAlignment {
        block: Rc::new(block),
        rows: rows[0]..rows[rows.len() - 1] + 1,
        map: map.to_vec(),
        typos: Vec::new(),
    };
    let fitted = fit(
        &file,
        &HunkMatch::from_alignment(MatchStrategy::Aligned, aligned),
    );
    let result = fitted.map(|fitted| {
        let mut text = before.to_owned();
        for (span, new) in fitted.splices.iter().rev() {
            text.replace_range(span.range(), new);
        }
        text
    });
    assert_eq!(result, after.map(str::to_owned), "{old:?} -> {new:?}");
}

const GAP: &[Option<usize>] = &[Some(0), Some(2), Some(3)];

#[test]
fn a_gap_away_from_the_change_stays() {
    check(
        "a\n\nb\nc\n",
        "a\nb\nc\n",
        "a\nb\nC\n",
        GAP,
        Ok("a\n\nb\nC\n"),
    );
    check(
        "a\nX\nb\nc\n",
        "a\nb\nc\n",
        "a\nb\nC\n",
        GAP,
        Ok("a\nX\nb\nC\n"),
    );
}

#[test]
fn a_gap_beside_the_change_is_settled_or_refused() {
    let boundary = Err(Ambiguity::Boundary);
    // Only the new text has the blank line, before lines that it replaces one by one.
    check(
        "a\n\nb\nc\n",
        "a\nb\nc\n",
        "a\n\nB\nc\n",
        GAP,
        Ok("a\n\nB\nc\n"),
    );
    check(
        "a\n\nb\nc\n",
        "a\nb\nc\n",
        "a\n\nx\n\nb\nc\n",
        GAP,
        Ok("a\n\nx\n\nb\nc\n"),
    );
    // The new line may belong before or after the blank line.
    check("a\n\nb\nc\n", "a\nb\nc\n", "a\nx\nb\nc\n", GAP, boundary);
    // An omitted line of text may be meant to be replaced too.
    check("a\nX\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", GAP, boundary);
}

#[test]
fn a_blank_line_nobody_speaks_of_stays_beside_what_changes() {
    let file = "a\n\nb\nc\n";
    check(file, "a\nb\nc\n", "a\nB\nc\n", GAP, Ok("a\n\nB\nc\n"));
    check(file, "a\nb\nc\n", "a\nc\n", GAP, Ok("a\n\nc\n"));
    check(file, "a\nb\nc\n", "A\nb\nc\n", GAP, Ok("A\n\nb\nc\n"));
    check(file, "a\nb\nc\n", "b\nc\n", GAP, Ok("\nb\nc\n"));
    // The same with omitted blank lines on both sides.
    let both = &[Some(0), Some(2), Some(4)];
    let file = "a\n\nb\n\nc\n";
    check(file, "a\nb\nc\n", "a\nB\nc\n", both, Ok("a\n\nB\n\nc\n"));
    check(file, "a\nb\nc\n", "a\nc\n", both, Err(Ambiguity::Boundary));
}

#[test]
fn added_lines_replace_the_old_one_if_it_is_recognisable() {
    let file = "a\n\nlet b = one(two);\nc\n";
    let old = "a\nlet b = one(two);\nc\n";
    check(
        file,
        old,
        "a\nlet b = one(three);\nb.four();\nc\n",
        GAP,
        Ok("a\n\nlet b = one(three);\nb.four();\nc\n"),
    );
    // The first new line may belong before the blank line, and the second after it.
    let boundary = Err(Ambiguity::Boundary);
    let new = "a\nuse four;\nlet b = one(three);\nc\n";
    check(file, old, new, GAP, boundary);
    check(file, old, "a\nx\ny\nc\n", GAP, boundary);
    // A blank line among the new lines may be the omitted one, so this is ambiguous too.
    check(file, old, "a\nB\n\nc\n", GAP, boundary);
    check(file, old, "a\n\nlet b = one(three);\nd\nc\n", GAP, boundary);
}

#[test]
fn lines_that_move_may_take_a_blank_line_along() {
    let map = &[Some(0), Some(2), Some(3), Some(4)];
    check(
        "a\n\nb\nc\nd\n",
        "a\nb\nc\nd\n",
        "a\nc\nd\nb\n",
        map,
        Err(Ambiguity::Boundary),
    );
}

#[test]
fn lines_that_go_away_leave_no_two_blank_lines() {
    let map = &[Some(0), Some(2), Some(3), Some(4)];
    let (old, new) = ("a\nb\n\nc\n", "a\n\nc\n");
    check("a\n\nb\n\nc\n", old, new, map, Err(Ambiguity::Boundary));
    // The same holds if the file has two blank lines elsewhere: the removed line may have taken one
    // of them along.
    let file = "a\n\nb\n\nc\n\n\nd\n";
    check(file, old, new, map, Err(Ambiguity::Boundary));
    check("a\n\nb\n\nc\n", old, "a\nc\n", map, Ok("a\n\nc\n"));
    // The same holds if new lines appear between the following blank lines.
    let map = &[Some(0), Some(2), Some(3), Some(4), Some(5)];
    let (file, old) = ("a\n\nb\n\n\nc\n", "a\nb\n\n\nc\n");
    check(file, old, "a\n\nx\n\nc\n", map, Err(Ambiguity::Boundary));
    check(file, old, "a\n\n\nc\n", map, Err(Ambiguity::Boundary));
}

#[test]
fn unlike_lines_at_another_depth_leave_a_gap_in_doubt() {
    let (file, old) = ("  a\n\n  b\n\n  c\n", "  a\n  b\n\n  c\n");
    let map = &[Some(0), Some(2), Some(3), Some(4)];
    let check = |new, after| check(file, old, new, map, after);
    check("  a\nx\n\n  c\n", Err(Ambiguity::Boundary));
    check("  a\n  x\n\n  c\n", Ok("  a\n\n  x\n\n  c\n"));
    check("  a\nb\n\n  c\n", Err(Ambiguity::Boundary));
}

#[test]
fn what_appears_does_not_begin_with_a_closing_bracket() {
    // By the diff alone, the insertion could also begin with the bracket, directly after the blank
    // line.
    let map = &[Some(0), Some(2), Some(3)];
    check(
        "a\n\n}\nz\n",
        "a\n}\nz\n",
        "a\n}\nb\n}\nz\n",
        map,
        Ok("a\n\n}\nb\n}\nz\n"),
    );
    // Here the insertion that begins with text is beside the blank line.
    let map = &[Some(0), Some(1), Some(3)];
    check(
        "a\n}\n\nz\n",
        "a\n}\nz\n",
        "a\n}\nb\n}\nz\n",
        map,
        Err(Ambiguity::Boundary),
    );
}

#[test]
fn beside_brackets_one_blank_line_is_taken_for_another() {
    let map = &[Some(0), Some(1), Some(2), Some(3), Some(5), Some(6)];
    check(
        "f\nx\n\n}\n\ny\nz\n",
        "f\nx\n\n}\ny\nz\n",
        "f\nw\n}\nv\nz\n",
        map,
        Err(Ambiguity::Boundary),
    );
}

#[test]
fn a_gap_may_slide_along_equal_lines() {
    // Any of the three equal lines may be the omitted one, so an insertion among them is refused.
    let map = &[Some(0), Some(1), Some(2), Some(4)];
    check(
        "a\nx\nx\nx\nb\n",
        "a\nx\nx\nb\n",
        "a\nx\nnew\nx\nb\n",
        map,
        Err(Ambiguity::Boundary),
    );
    check(
        "a\nx\nx\nx\nb\nc\n",
        "a\nx\nx\nb\n",
        "a\nx\nx\nB\n",
        map,
        Err(Ambiguity::Boundary),
    );
}

#[test]
fn an_extra_old_line_is_ignored_only_away_from_changes() {
    let map = &[Some(0), None, Some(1), Some(2)];
    check(
        "a\nb\nc\n",
        "a\n\nb\nc\n",
        "a\n\nb\nC\n",
        map,
        Ok("a\nb\nC\n"),
    );
    check(
        "a\nb\nc\n",
        "a\n\nb\nc\n",
        "a\n\nB\nc\n",
        map,
        Err(Ambiguity::Boundary),
    );
    check(
        "a\nb\nc\n",
        "a\n\nb\nc\n",
        "a\nB\nc\n",
        map,
        Err(Ambiguity::Boundary),
    );
}

#[test]
fn removal_beside_blank_lines_needs_equal_results() {
    // The removed line may be the first or the last one, and two blank lines remain in both cases.
    let map = &[
        Some(0),
        Some(1),
        Some(3),
        Some(4),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
    ];
    check(
        "a\n\n\n#\nb\n\n\n#\nc\n",
        "a\n\n#\nb\n\n\n#\nc\n",
        "a\n\n#\nc\n",
        map,
        Ok("a\n\n\n#\nc\n"),
    );
}
