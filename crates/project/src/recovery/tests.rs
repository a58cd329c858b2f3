//! Recovery from damaged journals.

use std::sync::Arc;

use base::{AbsPath, ByteOffset, Span};
use host::{FakeClock, FakeFiles, Files};
use text::{BufferOperation, Edit, EditKind, EditOrigin, Timestamp};

use super::recover;
use crate::document::Document;
use crate::journal::RecoveryJournal;
use crate::journal_entry::{BaseText, JournalEntry, MAGIC, Meta, write};

const AT: Timestamp = Timestamp(1);

fn folder() -> AbsPath {
    AbsPath::new("/journals").expect("absolute")
}

/// Creates a dead run with one journal; also returns the successive texts of the document.
fn dead_run(files: &FakeFiles) -> (AbsPath, Vec<String>) {
    let clock = FakeClock::at(1);
    let (journal, _events) =
        RecoveryJournal::start(Arc::new(files.clone()), &clock, &folder()).expect("a journal");
    let mut document = Document::untitled();
    let mut texts = vec![String::new()];
    for (number, word) in ["one ", "zwei ", "drei ", "vier ", "fünf "]
        .iter()
        .enumerate()
    {
        let at = Timestamp(number as u64 * 100_000);
        let span = Span::at(ByteOffset(0));
        document
            .buffer_mut()
            .replace(span, word, &EditOrigin::typing(at));
        if number == 3 {
            document.buffer_mut().undo();
        }
        journal.record(&mut document);
        journal.flush().expect("written");
        texts.push(document.snapshot().to_string());
    }
    drop(journal);
    let sessions = files.list(&folder()).expect("a folder").entries;
    let session = sessions.iter().find(|entry| entry.path.name() != "history");
    let journals = files
        .list(&session.expect("a session").path)
        .expect("a folder")
        .entries;
    let journal = journals
        .iter()
        .find(|entry| entry.path.name().ends_with(".journal"));
    (journal.expect("a journal").path.clone(), texts)
}

#[test]
fn truncated_journals_recover_an_earlier_text() {
    let files = FakeFiles::new();
    let (journal, texts) = dead_run(&files);
    let whole = files.content(&journal).expect("the journal");
    for length in 0..=whole.len() {
        files.write(&journal, &whole[..length]);
        let recovery = recover(&files, &folder(), AT);
        match recovery.documents.as_slice() {
            [recovered] => {
                let text = recovered.document.snapshot().to_string();
                assert!(texts.contains(&text), "cut at {length}: {text:?}");
                if length == whole.len() {
                    assert_eq!(text, *texts.last().expect("texts"));
                    assert!(recovered.problems.is_empty());
                }
            }
            _ => assert_eq!(recovery.problems.len(), 1, "cut at {length}"),
        }
    }
}

#[test]
fn corrupt_journals_recover_an_earlier_text_or_report() {
    let files = FakeFiles::new();
    let (journal, texts) = dead_run(&files);
    let whole = files.content(&journal).expect("the journal");
    for place in 0..whole.len() {
        let mut wrong = whole.clone();
        wrong[place] ^= 0x11;
        files.write(&journal, &wrong);
        let recovery = recover(&files, &folder(), AT);
        match recovery.documents.as_slice() {
            [recovered] => {
                let text = recovered.document.snapshot().to_string();
                assert!(texts.contains(&text), "wrong at {place}: {text:?}");
            }
            _ => assert_eq!(recovery.problems.len(), 1, "wrong at {place}"),
        }
    }
    files.write(&journal, "not a journal at all");
    let recovery = recover(&files, &folder(), AT);
    assert!(
        recovery.problems[0].contains("it is not a journal"),
        "{:?}",
        recovery.problems
    );
    assert!(
        files.exists(&journal),
        "what is not understood is not thrown away"
    );
}

#[test]
fn journals_of_a_newer_program_are_named_and_kept() {
    let files = FakeFiles::new();
    let (journal, _) = dead_run(&files);
    for (content, expected) in [
        ("burin journal 2\nanything", "a newer Burin wrote"),
        ("burin journal 40\n", "a newer Burin wrote"),
        ("burin journal 0\n", "it is not a journal"),
        ("burin journal two\n", "it is not a journal"),
        ("burin journal ", "it is not a journal"),
    ] {
        files.write(&journal, content);
        let recovery = recover(&files, &folder(), AT);
        assert!(recovery.documents.is_empty(), "{content:?}");
        let problem = &recovery.problems[0];
        assert!(problem.contains(expected), "{content:?}: {problem}");
        assert!(files.exists(&journal), "{content:?}");
    }
}

#[test]
fn operations_outside_the_text_are_skipped() {
    let files = FakeFiles::new();
    let (journal, _) = dead_run(&files);
    let edit = |start: usize, end: usize, text: &str, length: u64| JournalEntry::Operations {
        operations: vec![BufferOperation::Edit {
            edits: vec![Edit::new(
                Span::new(ByteOffset(start), ByteOffset(end)),
                text,
            )],
            origin: EditOrigin::new(text::Author::User, EditKind::Other, AT),
        }],
        length,
    };
    let check = |entry: JournalEntry, expected: &str| {
        let document = Document::untitled();
        let meta = Meta {
            key: document.key(),
            path: None,
            format: document.format(),
            saved: None,
        };
        let base = BaseText::Text("aä".into());
        let mut bytes = MAGIC.to_vec();
        write(&mut bytes, &JournalEntry::Start { base, meta });
        write(&mut bytes, &entry);
        files.write(&journal, bytes);
        let recovery = recover(&files, &folder(), AT);
        let recovered = &recovery.documents[0];
        assert_eq!(recovered.document.snapshot().to_string(), expected);
        assert_eq!(recovered.problems.is_empty(), expected != "aä");
    };
    check(edit(1, 3, "b", 2), "ab");
    check(edit(2, 3, "b", 2), "aä");
    check(edit(0, 9, "b", 2), "aä");
    check(edit(7, 7, "b", 4), "aä");
    check(
        JournalEntry::Operations {
            operations: vec![
                BufferOperation::Undo,
                BufferOperation::GoTo(text::NodeId(99)),
                BufferOperation::Restore(text::CheckpointId(99)),
                BufferOperation::EndStep,
            ],
            length: 0,
        },
        "aä",
    );
}

#[test]
fn a_step_that_the_program_left_open_ends() {
    let files = FakeFiles::new();
    let clock = FakeClock::at(1);
    let (journal, _events) =
        RecoveryJournal::start(Arc::new(files.clone()), &clock, &folder()).expect("a journal");
    let mut document = Document::untitled();
    document.buffer_mut().begin_step();
    let origin = EditOrigin::typing(Timestamp(0));
    let start = Span::at(ByteOffset(0));
    document.buffer_mut().replace(start, "typed ", &origin);
    journal.record(&mut document);
    journal.flush().expect("written");
    drop(journal);
    let recovery = recover(&files, &folder(), AT);
    let mut documents = recovery.documents.into_iter();
    let mut document = documents.next().expect("a document").document;
    assert!(!document.buffer_mut().history().is_step_open());
    let later = EditOrigin::typing(Timestamp(100_000));
    document.buffer_mut().replace(start, "later ", &later);
    document.buffer_mut().undo();
    assert_eq!(document.snapshot().to_string(), "typed ");
}
