//! Tests of landings and of documents that are observed no more.

use quality::LossRecord;
use retention::{WriterCall, WriterKind};

use super::*;

type Rows = Arc<Mutex<Vec<QualityRecord>>>;

fn recorder() -> (RetentionRecorder, Rows) {
    let rows = Rows::default();
    let sink = rows.clone();
    let recorder = RetentionRecorder::new(move |new| {
        let new = new.into_iter().map(|(_, row)| row);
        sink.lock().unwrap().extend(new);
    });
    (recorder, rows)
}

fn root(path: &str) -> AbsPath {
    AbsPath::new(path).unwrap()
}

fn text(text: &str) -> FollowedText {
    FollowedText::Text(text.to_owned())
}

/// Observes a change of `a.rs` below a root: `call` names the call of an agent, an empty name a person.
fn change(recorder: &RetentionRecorder, path: &str, call: &str, texts: (&str, &str), at_ms: u64) {
    let by_agent = (!call.is_empty()).then(|| {
        Arc::new(WriterCall {
            session: "s".to_owned(),
            turn: 1,
            call: call.to_owned(),
            tool: "edit".to_owned(),
        })
    });
    let kind = match by_agent {
        Some(_) => WriterKind::Agent,
        None => WriterKind::Person,
    };
    let followed = FollowedChange {
        root: &root(path),
        path: "a.rs",
        id: call,
        writer: &Writer {
            kind,
            call: by_agent,
        },
        at_ms,
    };
    recorder.observe(followed, &text(texts.0), &text(texts.1));
}

/// The moments, kept tokens and losses of all measurements.
fn measured(rows: &Rows) -> Vec<(String, u32, Vec<LossRecord>)> {
    let rows = rows.lock().unwrap();
    let kept = rows.iter().filter_map(|row| match row {
        QualityRecord::Kept(it) => Some(it),
        _ => None,
    });
    kept.map(|it| {
        (
            it.milestone.clone(),
            it.inserted.kept,
            it.inserted.losses.clone(),
        )
    })
    .collect()
}

fn moments(rows: &Rows) -> Vec<(String, u32)> {
    let all = measured(rows).into_iter();
    all.map(|(moment, kept, _)| (moment, kept)).collect()
}

#[test]
fn landed_text_goes_on_in_the_checkout() {
    let (recorder, rows) = recorder();
    change(
        &recorder,
        "/lease",
        "c1",
        ("x\n", "x\none two three\n"),
        1_000,
    );
    assert_eq!(recorder.followed(&root("/lease")), ["a.rs"]);
    let landed = [("a.rs".to_owned(), text("x\none three\n"))];
    recorder.land((&root("/lease"), &root("/repo")), &landed, true, 11_000);
    recorder.close(&root("/lease"));
    change(
        &recorder,
        "/repo",
        "",
        ("x\none three\n", "x\none drei\n"),
        61_000,
    );
    recorder.advance(200_000);
    let person = |after_ms: u64| LossRecord {
        after_ms,
        fate: "reworked_by_person".to_owned(),
        tokens: 1,
    };
    let expected = [
        ("landing".to_owned(), 2, vec![person(10_000)]),
        ("30s".to_owned(), 2, vec![person(10_000)]),
        ("2m".to_owned(), 1, vec![person(10_000), person(60_000)]),
    ];
    assert_eq!(measured(&rows), expected);
}

#[test]
fn landed_text_that_is_not_observed_is_closed() {
    let (recorder, rows) = recorder();
    change(&recorder, "/lease", "c1", ("", "one two\n"), 1_000);
    let landed = [("a.rs".to_owned(), text("one two\n"))];
    recorder.land((&root("/lease"), &root("/repo")), &landed, false, 11_000);
    recorder.advance(200_000);
    let expected = [("landing".to_owned(), 2), ("closed".to_owned(), 2)];
    assert_eq!(moments(&rows), expected);
}

#[test]
fn commits_are_measured_by_the_committed_text() {
    let (recorder, rows) = recorder();
    change(&recorder, "/repo", "c1", ("", "one two\n"), 1_000);
    let committed = [("a.rs".to_owned(), text("one\n"))];
    recorder.commit(&root("/repo"), &committed, 2_000);
    recorder.advance(100_000);
    let expected = [("commit".to_owned(), 1), ("30s".to_owned(), 2)];
    assert_eq!(moments(&rows), expected);
}

#[test]
fn changes_of_a_person_have_no_rows() {
    let (recorder, rows) = recorder();
    change(&recorder, "/repo", "", ("", "by hand\n"), 1_000);
    recorder.advance(100_000);
    assert!(rows.lock().unwrap().is_empty());
    // The document is dropped once nothing in it is measured any more.
    recorder.advance(8 * 86_400_000);
    assert_eq!(recorder.followed(&root("/repo")), Vec::<String>::new());
}

#[test]
fn a_closed_tree_is_measured_at_the_last_known_time() {
    let (recorder, rows) = recorder();
    change(&recorder, "/lease", "c1", ("", "one\n"), 1_000);
    recorder.advance(40_000);
    recorder.close(&root("/lease"));
    let expected = [("30s".to_owned(), 1), ("closed".to_owned(), 1)];
    assert_eq!(moments(&rows), expected);
}
