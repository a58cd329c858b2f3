//! Tests the display of suggestions as rows with marks around inserted and deleted text.

use std::sync::Arc;

use autocomplete::{AcceptGranularity, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::{ByteOffset, Row, Span};
use syntax::{Budget, ParseStatus, SyntaxTree};
use text::{Buffer, EditOrigin, Selection, SelectionSet, Snapshot, Timestamp};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{
    CaretPlace, ColourJob, InText, Presentation, SuggestionPlace, SuggestionStyle, VisibleRange,
    accepted_edits, extra_carets, present, tab_takes,
};
use crate::fixture::unmark;

/// Returns a suggestion that replaces each `old` text, found in the text, with a new one.
fn replacing(snapshot: &Snapshot, edits: &[(&str, &str)]) -> Suggestion {
    let text = snapshot.to_string();
    let mut from = 0;
    let edits = edits.iter().map(|(old, new)| {
        let start = from + text[from..].find(old).expect("the text holds it");
        from = start + old.len();
        SuggestedEdit {
            span: Span::from(start..from),
            old: Arc::from(*old),
            new: Arc::from(*new),
        }
    });
    of(snapshot, edits.collect())
}

/// Returns a suggestion that inserts a text.
fn inserting(snapshot: &Snapshot, at: ByteOffset, new: &str) -> Suggestion {
    of(
        snapshot,
        vec![SuggestedEdit::new(Span::at(at), new, snapshot)],
    )
}

fn of(snapshot: &Snapshot, edits: Vec<SuggestedEdit>) -> Suggestion {
    Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: snapshot.revision(),
        edits,
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    }
}

/// Makes all rows visible.
fn all(snapshot: &Snapshot) -> VisibleRange {
    VisibleRange {
        rows: (Row(0), Row(snapshot.row_count())),
        hides_start: false,
    }
}

/// Returns the shown text: `‹inserted›`, `[struck]`, `-` before deleted rows.
fn shown(snapshot: &Snapshot, suggestion: &Suggestion, selections: &SelectionSet) -> String {
    let Presentation::InText(shown) = present(suggestion, snapshot, selections, all(snapshot))
    else {
        panic!("all rows are in sight");
    };
    let mut marks: Vec<(ByteOffset, u8, String)> = Vec::new();
    for (first, last) in &shown.gone_rows {
        marks.extend(
            (first.0..=last.0).map(|row| (snapshot.row_start(Row(row)), 0, "-".to_owned())),
        );
    }
    for span in &shown.struck {
        marks.push((span.start, 1, "[".to_owned()));
        marks.push((span.end, 2, "]".to_owned()));
    }
    for piece in &shown.pieces {
        marks.push((piece.at, 3, format!("‹{}›", piece.text)));
    }
    marks.sort();
    let mut text = snapshot.to_string();
    for (at, _, mark) in marks.iter().rev() {
        text.insert_str(at.0, mark);
    }
    text
}

fn check(text: &str, edits: &[(&str, &str)], expected: &str) {
    let snapshot = Snapshot::new(text);
    let far = SelectionSet::single(Selection::caret(snapshot.len()));
    let suggestion = replacing(&snapshot, edits);
    assert_eq!(shown(&snapshot, &suggestion, &far), expected);
}

#[test]
fn small_changes_are_shown_in_their_row() {
    check("let a = 1;\n", &[("1", "2")], "let a = [1]‹2›;\n");
    check(
        "use foo_bar;\n",
        &[("foo_bar", "foo_baz")],
        "use [foo_bar]‹foo_baz›;\n",
    );
    check("f(a, b)\n", &[(", b", "")], "f(a[, b])\n");
    check("f(a)\n", &[("a", "a, b")], "f(a‹, b›)\n");
    check("a b c\n", &[("a", "x"), ("c", "z")], "[a]‹x› b [c]‹z›\n");
}

#[test]
fn changes_of_rows_are_shown_old_above_new() {
    check(
        "fn f(a: u8) {\n    a\n}\n",
        &[("f(a: u8)", "f(\n    a: u8,\n)")],
        "-fn f(a: u8) {‹\nfn f(\n    a: u8,\n) {›\n    a\n}\n",
    );
    check(
        "one\ntwo\nthree\n",
        &[("one\ntwo\n", "both\n")],
        "-one\n-two‹\nboth›\nthree\n",
    );
    check("one\ntwo\nthree\n", &[("two\n", "")], "one\n-two\nthree\n");
    check("a\nb c\n", &[("a\nb", "")], "[a\nb] c\n");
    check(
        "a b c d\n",
        &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")],
        "-a b c d‹\n1 2 3 4›\n",
    );
    check("x\n", &[("x", "x\n")], "x‹\n ›\n");
}

#[test]
fn what_is_shown_as_added_rows_is_what_taking_gives() {
    let text = "alpha\nbeta {\n  gamma\n}\ndelta\n";
    let edits: &[(&str, &str)] = &[("beta {\n  gamma", "B {\n  x\n  y"), ("delta", "δ")];
    let mut buffer = Buffer::new(text);
    let snapshot = buffer.snapshot();
    let suggestion = replacing(&snapshot, edits);
    let far = SelectionSet::single(Selection::caret(ByteOffset(0)));
    let seen = shown(&snapshot, &suggestion, &far);
    assert_eq!(
        seen,
        "alpha\n-beta {\n-  gamma‹\nB {\n  x\n  y›\n}\n[delta]‹δ›\n"
    );
    buffer.edit(
        &suggestion.accept_edits(AcceptGranularity::All),
        &EditOrigin::user(Timestamp(0)),
    );
    assert_eq!(
        buffer.snapshot().to_string(),
        "alpha\nB {\n  x\n  y\n}\nδ\n"
    );
}

/// Returns the text after accepting, as a reader of the shown text expects it.
fn expected(snapshot: &Snapshot, shown: &InText) -> String {
    let mut edits: Vec<(Span, String)> = Vec::new();
    for (first, last) in &shown.gone_rows {
        let rows = Span::new(snapshot.row_start(*first), snapshot.row_end(*last));
        let mut added = shown
            .pieces
            .iter()
            .filter(|piece| piece.look == SuggestionStyle::AddedRows);
        match added.find(|piece| piece.at == rows.end) {
            Some(piece) => edits.push((rows, seen(&piece.text[1..]))),
            None => edits.push((
                Span::new(rows.start, snapshot.row_span_with_ending(*last).end),
                String::new(),
            )),
        }
    }
    edits.extend(shown.struck.iter().map(|span| (*span, String::new())));
    let within = shown
        .pieces
        .iter()
        .filter(|piece| piece.look != SuggestionStyle::AddedRows);
    edits.extend(within.map(|piece| (Span::at(piece.at), seen(&piece.text))));
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut text = snapshot.to_string();
    for (span, new) in edits.iter().rev() {
        text.replace_range(span.range(), new);
    }
    text
}

/// Returns an inserted text without the blank that makes its empty last row visible. The texts of the test
/// contain no other blank.
fn seen(text: &str) -> String {
    text.replace(' ', "")
}

#[test]
fn what_is_shown_is_what_taking_gives() {
    const ATOMS: &[&str] = &["a", "bc", "d.e", "\n", "\n", "(x)", "größe", "..f", "a"];
    for seed in 0..4_000 {
        let mut rng = StdRng::seed_from_u64(seed);
        let text = |rng: &mut StdRng, most: usize| -> String {
            let count = rng.random_range(0..most);
            (0..count)
                .map(|_| ATOMS[rng.random_range(0..ATOMS.len())])
                .collect()
        };
        let before = text(&mut rng, 24);
        let mut buffer = Buffer::new(&before);
        let snapshot = buffer.snapshot();
        let mut edits: Vec<SuggestedEdit> = Vec::new();
        let mut from = 0;
        for _ in 0..rng.random_range(1..6) {
            let mut place = || {
                snapshot.clip(
                    ByteOffset(
                        rng.random_range(from..=before.len().max(from))
                            .min(before.len()),
                    ),
                    base::Bias::Left,
                )
            };
            let (a, b) = (place(), place());
            let span = Span::new(a.min(b), a.max(b));
            let new = text(&mut rng, 5);
            let edit = SuggestedEdit::new(span, &new, &snapshot);
            if edit.is_empty() || edit.span.start.0 < from {
                continue;
            }
            from = edit.span.end.0 + 1;
            edits.push(edit);
        }
        if edits.is_empty() {
            continue;
        }
        let suggestion = of(&snapshot, edits);
        let caret = snapshot.clip(
            ByteOffset(rng.random_range(0..=before.len())),
            base::Bias::Left,
        );
        let carets = SelectionSet::single(Selection::caret(caret));
        let Presentation::InText(shown) = present(&suggestion, &snapshot, &carets, all(&snapshot))
        else {
            panic!("all rows are in sight");
        };
        buffer.edit(
            &suggestion.accept_edits(AcceptGranularity::All),
            &EditOrigin::user(Timestamp(0)),
        );
        let after = buffer.snapshot().to_string();
        assert_eq!(
            expected(&snapshot, &shown),
            after,
            "seed {seed}: {before:?} {:?} {shown:?}",
            suggestion.edits
        );
    }
}

#[test]
fn carets_with_the_same_around_them_go_along() {
    let check = |marked: &str, new: &str, seen: &str, after: &str| {
        let (text, selections) = unmark(marked);
        let mut buffer = Buffer::new(&text);
        let snapshot = buffer.snapshot();
        let suggestion = inserting(&snapshot, selections.primary().head, new);
        assert_eq!(shown(&snapshot, &suggestion, &selections), seen);
        let fellows = extra_carets(&suggestion, &snapshot, &selections);
        let (edits, selections) = accepted_edits(
            suggestion.accept_edits(AcceptGranularity::All),
            &fellows,
            &selections,
        );
        buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
        let mut text = buffer.snapshot().to_string();
        selections
            .as_slice()
            .iter()
            .rev()
            .for_each(|it| text.insert(it.head.0, 'ˇ'));
        assert_eq!(text, after);
    };
    check(
        "foˇ;\nbaˇ;\nfoˇ;",
        "o()",
        "fo‹o()›;\nba;\nfo‹o()›;",
        "foo()ˇ;\nbaˇ;\nfoo()ˇ;",
    );
    check("foˇ;\nfoˇ!", "o", "fo;\nfo‹o›!", "foˇ;\nfooˇ!");
    check("ˇ\nˇ", "a\nb", "‹a\nb›\n‹a\nb›", "a\nbˇ\na\nbˇ");
}

#[test]
fn jumps_out_of_view_preview_the_changed_row() {
    let snapshot = Snapshot::new("one\ntwo\nthree(a);\n");
    let suggestion = replacing(&snapshot, &[("a", "a, b")]);
    let check = |caret: usize, sight: VisibleRange, is_below: bool| {
        let carets = SelectionSet::single(Selection::caret(ByteOffset(caret)));
        let Presentation::Jump(jump) = present(&suggestion, &snapshot, &carets, sight) else {
            panic!("the place is not in sight");
        };
        assert_eq!((jump.row, jump.is_below), (Row(2), is_below));
        assert_eq!(jump.preview, "three(a, b);");
    };
    let rows = |first, end| VisibleRange {
        rows: (Row(first), Row(end)),
        hides_start: false,
    };
    check(0, rows(0, 2), true);
    check(19, rows(3, 4), false);
    let hidden = VisibleRange {
        hides_start: true,
        ..all(&snapshot)
    };
    check(0, hidden, true);
}

#[test]
fn a_jump_over_several_rows_previews_the_first_change() {
    let snapshot = Snapshot::new("one\nlet a = 1;\nlet sum = add(a);\nend\n");
    let check = |(old, new): (&str, &str), preview: &str| {
        let suggestion = replacing(&snapshot, &[(old, new)]);
        let carets = SelectionSet::single(Selection::caret(ByteOffset(0)));
        let sight = VisibleRange {
            rows: (Row(0), Row(1)),
            hides_start: false,
        };
        let Presentation::Jump(jump) = present(&suggestion, &snapshot, &carets, sight) else {
            panic!("the place is not in sight");
        };
        assert_eq!(jump.preview, preview);
    };
    // The first row is the same on both sides.
    let old = "let a = 1;\nlet sum = add(a);\nend";
    let new = "let a = 1;\nlet b = 2;\nlet sum = add(a, b);\nend";
    check((old, new), "let b = 2;");
    check((old, "let a = 1;\nend"), "let sum = add(a);");
    check(("let a = 1;", "let a = 1;\nlet b = 2;"), "let b = 2;");
    check(
        ("add(a);\nend", "address(a);\n\nlast"),
        "let sum = address(a);",
    );
}

#[test]
fn tab_indents_where_that_is_what_it_means() {
    use CaretPlace::{InIndent, InText};
    let place = |cells, asked| InIndent { cells, asked };
    assert!(tab_takes(None, false, &[InText]));
    assert!(tab_takes(Some("x"), false, &[place(4, 4)]));
    assert!(
        !tab_takes(Some("x"), false, &[place(0, 4)]),
        "the row is to be indented first"
    );
    assert!(
        !tab_takes(Some("    "), false, &[place(4, 4)]),
        "blanks are what Tab brings anyway"
    );
    assert!(
        !tab_takes(None, false, &[place(4, 4)]),
        "nothing comes in at the caret"
    );
    assert!(tab_takes(None, true, &[place(0, 4)]), "a Tab led here");
    assert!(
        !tab_takes(Some("x"), false, &[InText, place(0, 4)]),
        "another caret is to be indented"
    );
    assert!(tab_takes(Some("x"), false, &[InText, place(4, 4)]));
}

#[test]
fn put_in_text_has_the_colours_it_will_have() {
    let snapshot = Snapshot::new("fn f() {\n    le\n}\n");
    let at = ByteOffset(15);
    let suggestion = inserting(&snapshot, at, "t x = \"s\";\n    g(1);");
    let selections = SelectionSet::single(Selection::caret(at));
    let Presentation::InText(shown) = present(&suggestion, &snapshot, &selections, all(&snapshot))
    else {
        panic!("all rows are in sight");
    };
    let language = syntax::language_for(std::path::Path::new("a.rs"), "").expect("Rust is known");
    let mut tree = SyntaxTree::new(language);
    language.prepare();
    let parsed = tree.parse(&snapshot, &mut Budget::unlimited());
    assert!(!matches!(parsed, ParseStatus::Pending(_)));
    let found = [None, Some(tree.snapshot())].map(|syntax| {
        let text = (snapshot.clone(), syntax);
        ColourJob::new(language, text, suggestion.clone(), shown.pieces.clone()).run()
    });
    assert_eq!(
        found[0], found[1],
        "with the tree of the document or without"
    );
    let found = &found[0];
    let kind_at = |text: &str, at: usize| {
        let (colours, known) = found[0].of_text(text).expect("it has to do with the piece");
        let hit = colours
            .iter()
            .find(|it| it.start as usize <= at && at < it.end as usize);
        (hit.map(|it| it.kind.name()), known)
    };
    let whole = "t x = \"s\";\n    g(1);";
    assert_eq!(kind_at(whole, 0), (Some("keyword"), whole.len()));
    assert_eq!(kind_at(whole, 6), (Some("string"), whole.len()));
    let rest = &whole[4..];
    assert_eq!(
        kind_at(rest, 2),
        (Some("string"), rest.len()),
        "what was typed shifts the rest"
    );
    let grown = format!("{rest} h();");
    assert_eq!(
        kind_at(&grown, 2),
        (Some("string"), rest.len()),
        "the beginning is known"
    );
    assert!(found[0].of_text("other").is_none());
}

#[test]
fn a_location_in_another_file_shows_a_known_row() {
    let buffer = Buffer::new("one\n    let sum = total(read);\n");
    let snapshot = buffer.snapshot();
    let mut suggestion = replacing(&snapshot, &[("read", "read_all")]);
    suggestion.file = base::AbsPath::new("/elsewhere.rs");
    let check = |open: Option<&Snapshot>, row, preview: &str| {
        let place = SuggestionPlace::of(&suggestion, open);
        assert_eq!((place.row, place.preview.as_ref()), (row, preview));
    };
    check(Some(&snapshot), Some(Row(1)), "let sum = total(read_all);");
    check(None, None, "read_all");
    // A text to which the suggestion no longer applies gives no row.
    let other = Buffer::new("one\n").snapshot();
    check(Some(&other), None, "read_all");
}
