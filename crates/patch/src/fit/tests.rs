//! Where changes meet lines that block and file do not share.

use std::rc::Rc;

use super::*;
use crate::block::Block;
use crate::edit::Grain;

/// A block laid on the rows of `map`, from `before` to `after`, or a doubt.
fn check(before: &str, old: &str, new: &str, map: &[Option<usize>], after: Result<&str, Doubt>) {
    let file = FileText::new(before);
    let block = Block::new(old, new, Grain::Lines, false).expect("whole lines");
    let rows: Vec<usize> = map.iter().flatten().copied().collect();
    let aligned = Aligned {
        block: Rc::new(block),
        rows: rows[0]..rows[rows.len() - 1] + 1,
        map: map.to_vec(),
        typos: Vec::new(),
    };
    let fitted = fit(&file, &Match::lines(Rung::Aligned, aligned));
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
    let boundary = Err(Doubt::Boundary);
    // The new text alone has the blank line, in front of what it replaces one by one.
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
    // Whether the blank line is to stay is open.
    check("a\n\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", GAP, boundary);
    check("a\n\nb\nc\n", "a\nb\nc\n", "a\nx\nb\nc\n", GAP, boundary);
    check("a\n\nb\nc\n", "a\nb\nc\n", "a\nc\n", GAP, boundary);
    check("a\nX\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", GAP, boundary);
}

#[test]
fn a_gap_may_slide_along_equal_lines() {
    // Which of the three is left out cannot be told, so an insertion among them is refused.
    let map = &[Some(0), Some(1), Some(2), Some(4)];
    check(
        "a\nx\nx\nx\nb\n",
        "a\nx\nx\nb\n",
        "a\nx\nnew\nx\nb\n",
        map,
        Err(Doubt::Boundary),
    );
    check(
        "a\nx\nx\nx\nb\nc\n",
        "a\nx\nx\nb\n",
        "a\nx\nx\nB\n",
        map,
        Err(Doubt::Boundary),
    );
}

#[test]
fn a_line_too_many_is_passed_over_only_away_from_the_change() {
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
        Err(Doubt::Boundary),
    );
    check(
        "a\nb\nc\n",
        "a\n\nb\nc\n",
        "a\nB\nc\n",
        map,
        Err(Doubt::Boundary),
    );
}
