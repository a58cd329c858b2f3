//! Results that arrive, close, are walked through and dismissed.

use base::{AbsPath, Row};
use host::ContentHash;
use project::search::{FileMatches, MatchingRow};
use text::LineEnding;

use super::{Picked, ReplacementPreview, ResultLine, Results};

fn path(name: &str) -> AbsPath {
    AbsPath::new(format!("/p/{name}")).expect("absolute")
}

fn found(row: u32, before: &[&str], after: &[&str]) -> MatchingRow {
    let text = |rows: &[&str]| rows.iter().map(|r| (*r).to_owned()).collect();
    MatchingRow {
        row: Row(row),
        text: format!("hit {row}"),
        highlights: std::iter::once(0..3).collect(),
        columns: std::iter::once(0..3).collect(),
        before: text(before),
        after: text(after),
        ..MatchingRow::default()
    }
}

fn file(name: &str, rows: Vec<MatchingRow>) -> FileMatches {
    FileMatches {
        path: path(name),
        rows,
        content: ContentHash::of(name.as_bytes()),
        line_ending: LineEnding::Lf,
    }
}

fn show(results: &Results) -> Vec<String> {
    let line = |line: &ResultLine| match *line {
        ResultLine::File { file } => results.files()[file].path.name(),
        ResultLine::Match { file, row } => results.files()[file].rows[row].text.clone(),
        ResultLine::Replaced { .. } => "=>".to_owned(),
        ResultLine::Context { .. } => {
            let (row, text) = results.context(*line).expect("context");
            format!("{}: {text}", row.0)
        }
        ResultLine::Gap => "…".to_owned(),
    };
    results.lines().iter().map(line).collect()
}

#[test]
fn files_stand_in_order_with_their_context() {
    let mut results = Results::default();
    results.add(
        file("b", vec![found(4, &["x", "y"], &["z"]), found(9, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    results.add(
        file("a", vec![found(0, &[], &["n"]), found(2, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    let expect = [
        "a", "hit 0", "1: n", "hit 2", "b", "2: x", "3: y", "hit 4", "5: z", "…", "hit 9",
    ];
    assert_eq!(show(&results), expect);
    assert_eq!(results.match_count(), 4);
    results.toggle(0, ReplacementPreview::Shown);
    let expect = [
        "a", "b", "2: x", "3: y", "hit 4", "=>", "5: z", "…", "hit 9", "=>",
    ];
    assert_eq!(show(&results), expect);
}

#[test]
fn the_selection_walks_and_survives_dismissal() {
    let mut results = Results::default();
    results.add(
        file("a", vec![found(0, &[], &[]), found(5, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    results.add(
        file("b", vec![found(1, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    let first = results.step(None, 1).expect("a file");
    assert_eq!(first, Picked::File(path("a")));
    let second = results.step(Some(&first), 2).expect("a row");
    assert_eq!(second, Picked::Match(path("a"), Row(5)));
    let next = results
        .dismiss(&second, ReplacementPreview::Hidden)
        .expect("something is left");
    assert_eq!(next, Picked::File(path("b")));
    assert_eq!(results.match_count(), 2);
    let last = results.step(None, -1).expect("last");
    assert_eq!(last, Picked::Match(path("b"), Row(1)));
    let next = results.dismiss(&Picked::File(path("b")), ReplacementPreview::Hidden);
    assert_eq!(results.lines().len(), 2);
    assert!(next.is_some());
    assert_eq!(
        results.dismiss(&Picked::File(path("a")), ReplacementPreview::Hidden),
        None
    );
    assert!(results.lines().is_empty());
}

#[test]
fn matches_are_walked_around_the_ends() {
    let mut results = Results::default();
    results.add(
        file("a", vec![found(0, &[], &[]), found(5, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    results.add(
        file("b", vec![found(1, &[], &[])]),
        ReplacementPreview::Hidden,
    );
    let go = |from: Option<&Picked>, step| match results.step_match(from, step) {
        Some(Picked::Match(path, row)) => format!("{}{}", path.name(), row.0),
        other => format!("{other:?}"),
    };
    assert_eq!(go(None, 1), "a0");
    assert_eq!(go(None, -1), "b1");
    assert_eq!(go(Some(&Picked::Match(path("b"), Row(1))), 1), "a0");
    assert_eq!(go(Some(&Picked::File(path("b"))), 1), "b1");
    assert_eq!(go(Some(&Picked::File(path("b"))), -1), "a5");
}

#[test]
fn what_is_left_after_a_replacement_stays_on_the_list() {
    let mut results = Results::default();
    let rows = || vec![found(0, &[], &[]), found(5, &[], &[])];
    results.add(file("a", rows()), ReplacementPreview::Hidden);
    results.add(file("b", rows()), ReplacementPreview::Hidden);
    let picked = Picked::Match(path("a"), Row(0));
    let rest = Some(file("a", vec![found(6, &[], &[])]));
    let next = results.take_rest(&path("a"), rest, &picked, ReplacementPreview::Hidden);
    assert_eq!(next, Some(Picked::Match(path("a"), Row(6))));
    assert_eq!(show(&results), ["a", "hit 6", "b", "hit 0", "…", "hit 5"]);
    assert_eq!(results.match_count(), 3);
    let picked = Picked::Match(path("a"), Row(6));
    let next = results.take_rest(&path("a"), None, &picked, ReplacementPreview::Hidden);
    assert_eq!(next, Some(Picked::Match(path("b"), Row(0))));
    let next = results.take_rest(
        &path("b"),
        None,
        &Picked::File(path("b")),
        ReplacementPreview::Hidden,
    );
    assert_eq!((next, results.match_count()), (None, 0));
}
