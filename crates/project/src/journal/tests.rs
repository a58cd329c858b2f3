//! Typing, crashing, and recovering.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::{AbsPath, ByteOffset, Span};
use host::{
    ErrorReason, FakeClock, FakeFiles, FakeOperation, Files, RealClock, RealFiles, TempFolder,
};
use text::{Author, EditKind, EditOrigin, Selection, SelectionSet, Timestamp};

use super::{CloseRetention, JournalEvent, RecoveryJournal};
use crate::document::{Document, DocumentState};
use crate::load::{Binary, load};
use crate::recovered::Recovered;
use crate::recovery::{Recovery, recover, reopen};
use crate::save::{SaveOptions, SaveTarget};

const AT: Timestamp = Timestamp(1_000);

fn path(name: &str) -> AbsPath {
    AbsPath::new("/").expect("absolute").join(name)
}

fn journals() -> AbsPath {
    path("state/journals")
}

fn start(files: &FakeFiles) -> (RecoveryJournal, async_channel::Receiver<JournalEvent>) {
    let clock = FakeClock::at(1_000_000);
    RecoveryJournal::start(Arc::new(files.clone()), &clock, &journals()).expect("a journal")
}

fn open(files: &FakeFiles, name: &str, content: &str) -> Document {
    files.write(&path(name), content);
    let loaded = load(files, &path(name), Binary::Refuse, &AtomicBool::new(false));
    Document::from_loaded(loaded.expect("a text"))
}

fn insert(document: &mut Document, offset: usize, text: &str, at: u64) {
    let origin = EditOrigin::typing(Timestamp(at));
    let span = Span::at(ByteOffset(offset));
    document.buffer_mut().replace(span, text, &origin);
}

fn save(document: &mut Document, files: &FakeFiles) {
    let recovery = path("state/recovery");
    let job = document.prepare_save(SaveTarget::Own, SaveOptions::default(), &recovery, AT);
    let outcome = job.expect("a job").run(files);
    document.accept_save(outcome).expect("saved");
}

fn text(document: &Document) -> String {
    document.snapshot().to_string()
}

/// Recovers the documents in a new run. The old journal must have been dropped, which ends it
/// without closing any document, like a crash after all writes.
fn come_back(files: &FakeFiles) -> Recovery {
    recover(files, &journals(), AT)
}

fn only(recovery: Recovery) -> Recovered {
    assert_eq!(recovery.problems, Vec::<String>::new());
    let [recovered] = recovery
        .documents
        .try_into()
        .unwrap_or_else(|documents: Vec<_>| {
            panic!("{} documents", documents.len());
        });
    assert_eq!(recovered.problems, Vec::<String>::new());
    recovered
}

/// Undoes everything, then redoes everything; returns both texts.
fn undone_and_redone(document: &mut Document) -> (String, String) {
    while document.buffer_mut().undo().is_some() {}
    let undone = text(document);
    while document.buffer_mut().redo().is_some() {}
    (undone, text(document))
}

#[test]
fn text_undo_tree_and_selections_are_recovered() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    insert(&mut document, 3, "!", 1);
    journal.record(&mut document);
    insert(&mut document, 0, "number ", 60_000);
    journal.record(&mut document);
    let carets = [
        Selection::caret(ByteOffset(2)),
        Selection::new(ByteOffset(9), ByteOffset(5)),
    ];
    let selections = SelectionSet::new(carets.to_vec(), 1);
    journal.select(&document, &selections);
    let key = document.key();
    drop(journal);

    let mut recovered = only(come_back(&files));
    assert_eq!(text(&recovered.document), "number one!\n");
    assert_eq!(recovered.document.state(), DocumentState::Dirty);
    assert_eq!(recovered.document.path(), Some(&path("file")));
    assert_eq!(recovered.document.key(), key);
    assert_eq!(recovered.selections, Some(selections));
    assert_eq!(recovered.document.buffer().history().steps().count(), 2);
    let (undone, redone) = undone_and_redone(&mut recovered.document);
    assert_eq!(
        (undone.as_str(), redone.as_str()),
        ("one\n", "number one!\n")
    );
}

#[test]
fn untitled_document_is_recovered() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = Document::untitled();
    journal.record(&mut document);
    insert(&mut document, 0, "a thought", 1);
    journal.record(&mut document);
    drop(journal);
    let recovered = only(come_back(&files));
    assert_eq!(text(&recovered.document), "a thought");
    assert_eq!(recovered.document.state(), DocumentState::Untitled);
    assert!(recovered.document.is_dirty());
}

#[test]
fn unedited_document_leaves_no_journal() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    journal.select(
        &document,
        &SelectionSet::single(Selection::caret(ByteOffset(1))),
    );
    drop(journal);
    let recovery = come_back(&files);
    assert!(recovery.documents.is_empty() && recovery.problems.is_empty());
    let sessions = files.list(&journals()).expect("a folder").entries;
    let names: Vec<_> = sessions.iter().map(|entry| entry.path.name()).collect();
    assert_eq!(names, ["history"]);
}

#[test]
fn recovered_document_continues_its_journal() {
    let files = FakeFiles::new();
    let mut expected = String::from("one\n");
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", &expected);
    journal.record(&mut document);
    insert(&mut document, 0, "0", 1);
    expected.insert(0, '0');
    journal.record(&mut document);
    drop(journal);
    for round in 1..5_u64 {
        let recovered = only(come_back(&files));
        let (journal, _events) = start(&files);
        let (mut document, _) = journal.adopt(recovered);
        assert_eq!(text(&document), expected);
        let digit = round.to_string();
        insert(&mut document, 0, &digit, round * 100_000);
        expected.insert_str(0, &digit);
        journal.record(&mut document);
        journal.flush().expect("written");
        drop(journal);
    }
    let mut recovered = only(come_back(&files));
    let (undone, redone) = undone_and_redone(&mut recovered.document);
    assert_eq!((undone.as_str(), redone), ("one\n", expected));
}

#[test]
fn journals_of_a_live_run_are_not_recovered() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = Document::untitled();
    insert(&mut document, 0, "x", 1);
    journal.record(&mut document);
    journal.flush().expect("written");
    assert!(come_back(&files).documents.is_empty());
    drop(journal);
    let recovery = come_back(&files);
    assert_eq!(recovery.documents.len(), 1);
    // A document recovered by one run is not found by another.
    assert!(come_back(&files).documents.is_empty());
    drop(recovery);
    assert_eq!(come_back(&files).documents.len(), 1);
}

#[test]
fn saved_document_is_recovered_clean() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    insert(&mut document, 0, "my ", 1);
    journal.record(&mut document);
    save(&mut document, &files);
    journal.record(&mut document);
    drop(journal);
    {
        let mut recovered = only(come_back(&files));
        assert_eq!(recovered.document.state(), DocumentState::Clean);
        let (undone, _) = undone_and_redone(&mut recovered.document);
        assert_eq!(undone, "one\n");
    }
    files.write(&path("file"), "theirs\n");
    let recovered = only(come_back(&files));
    assert_eq!(recovered.document.state(), DocumentState::Clean);
    assert_eq!(text(&recovered.document), "theirs\n");
    let (journal, _events) = start(&files);
    let (mut document, _) = journal.adopt(recovered);
    document.buffer_mut().undo();
    assert_eq!(text(&document), "my one\n");
}

#[test]
fn recovered_text_conflicts_with_a_changed_file() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    save(&mut document, &files);
    insert(&mut document, 0, "my ", 1);
    journal.record(&mut document);
    drop(journal);
    files.write(&path("file"), "theirs\n");
    let [recovered] = come_back(&files)
        .documents
        .try_into()
        .ok()
        .expect("a document");
    assert_eq!(recovered.document.state(), DocumentState::Conflict);
    assert_eq!(text(&recovered.document), "my one\n");
    assert!(recovered.problems[0].contains("changed by another program"));
}

#[test]
fn edits_during_a_save_are_recovered_dirty() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    insert(&mut document, 0, "my ", 1);
    journal.record(&mut document);
    let recovery = path("state/recovery");
    let job = document.prepare_save(SaveTarget::Own, SaveOptions::default(), &recovery, AT);
    insert(&mut document, 0, "late ", 2);
    journal.record(&mut document);
    let outcome = job.expect("a job").run(&files);
    document.accept_save(outcome).expect("saved");
    journal.record(&mut document);
    drop(journal);
    let mut recovered = only(come_back(&files));
    assert_eq!(recovered.document.state(), DocumentState::Dirty);
    assert_eq!(text(&recovered.document), "late my one\n");
    assert_eq!(
        recovered
            .document
            .saved_snapshot()
            .expect("a file")
            .to_string(),
        "my one\n"
    );
    recovered.document.buffer_mut().undo();
    assert_eq!(recovered.document.state(), DocumentState::Clean);
}

#[test]
fn failing_disk_is_reported_once_and_retried() {
    let files = FakeFiles::new();
    let (journal, events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    for (count, operation) in [
        FakeOperation::WritePrivate,
        FakeOperation::Append,
        FakeOperation::Sync,
    ]
    .into_iter()
    .enumerate()
    {
        files.fail_always(operation, ErrorReason::NoSpace);
        if count > 0 {
            // After a failed sync the journal is rewritten, which must fail as well.
            files.fail_always(FakeOperation::WritePrivate, ErrorReason::NoSpace);
        }
        insert(&mut document, 0, "x", 1);
        journal.record(&mut document);
        let error = journal.flush().expect_err("it failed");
        assert_eq!(error.reason, ErrorReason::NoSpace, "{operation:?}");
        journal.flush().expect_err("it fails still");
        let Ok(JournalEvent::Failing(sentence)) = events.try_recv() else {
            panic!("no event for {operation:?}");
        };
        assert!(sentence.contains("the disk is full"), "{sentence}");
        assert!(events.is_empty(), "told twice");
        files.heal();
        journal.flush().expect("written");
        assert_eq!(
            events.try_recv(),
            Ok(JournalEvent::Healthy),
            "round {count}"
        );
    }
    drop(journal);
    assert_eq!(text(&only(come_back(&files)).document), "xxxone\n");
}

#[test]
fn undo_without_history_is_journalled_as_edits() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    insert(&mut document, 0, "first ", 1);
    journal.record(&mut document);
    // After a failed sync the whole text replaces the history.
    files.fail(FakeOperation::Sync, 1, ErrorReason::Device);
    insert(&mut document, 0, "second ", 100_000);
    journal.record(&mut document);
    journal.flush().ok();
    insert(&mut document, 0, "third ", 200_000);
    journal.record(&mut document);
    journal.flush().ok();
    document.buffer_mut().undo();
    document.buffer_mut().undo();
    journal.record(&mut document);
    document.buffer_mut().undo();
    insert(&mut document, 3, "!", 300_000);
    journal.record(&mut document);
    drop(journal);
    let recovered = only(come_back(&files));
    assert_eq!(text(&recovered.document), text(&document));
    assert_eq!(text(&document), "one!\n");
    assert_eq!(recovered.document.state(), DocumentState::Dirty);
}

#[test]
fn queue_overflow_is_replaced_by_the_whole_text() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = Document::untitled();
    journal.record(&mut document);
    insert(&mut document, 0, "start ", 1);
    journal.record(&mut document);
    journal.flush().expect("written");
    files.fail_always(FakeOperation::Append, ErrorReason::NoSpace);
    let paragraph = "many words in a row ".repeat(20_000);
    for number in 0..60_u64 {
        insert(&mut document, 6, &paragraph, number * 100_000);
        journal.record(&mut document);
    }
    journal.flush().ok();
    files.heal();
    journal.flush().expect("written");
    drop(journal);
    let recovered = only(come_back(&files));
    assert!(
        text(&recovered.document) == text(&document),
        "another text came back"
    );
}

#[test]
fn closing_keeps_the_requested_data() {
    let files = FakeFiles::new();
    let check = |keep: CloseRetention, is_saved: bool, expected: &str| {
        let (journal, _events) = start(&files);
        let mut document = open(&files, "file", "one\n");
        journal.record(&mut document);
        insert(&mut document, 0, "my ", 1);
        journal.record(&mut document);
        if is_saved {
            save(&mut document, &files);
            journal.record(&mut document);
        }
        journal.close(&document, keep);
        drop(journal);
        let unsaved = come_back(&files).documents.len();
        let loaded = load(
            &files,
            &path("file"),
            Binary::Refuse,
            &AtomicBool::new(false),
        );
        let mut reopened = reopen(&files, &journals(), loaded.expect("a text"));
        let has_undo = reopened.document.buffer_mut().undo().is_some();
        let found = format!("{unsaved} unsaved, undo {has_undo}");
        assert_eq!(found, expected, "{keep:?}, saved {is_saved}");
    };
    check(CloseRetention::Nothing, false, "0 unsaved, undo false");
    check(CloseRetention::Nothing, true, "0 unsaved, undo false");
    check(CloseRetention::History, false, "0 unsaved, undo false");
    check(CloseRetention::History, true, "0 unsaved, undo true");
}

#[test]
fn reopening_an_unchanged_file_restores_undo() {
    let files = FakeFiles::new();
    let close = |document: &mut Document, journal: &RecoveryJournal| {
        save(document, &files);
        journal.record(document);
        journal.close(document, CloseRetention::History);
    };
    let (journal, _events) = start(&files);
    let mut document = open(&files, "file", "one\n");
    journal.record(&mut document);
    insert(&mut document, 0, "1", 1);
    journal.record(&mut document);
    close(&mut document, &journal);
    drop(journal);
    for round in 2..5_u64 {
        let (journal, _events) = start(&files);
        let loaded = load(
            &files,
            &path("file"),
            Binary::Refuse,
            &AtomicBool::new(false),
        );
        let reopened = reopen(&files, &journals(), loaded.expect("a text"));
        let (mut document, _) = journal.adopt(reopened);
        assert_eq!(document.state(), DocumentState::Clean);
        assert_eq!(
            document.buffer().history().steps().count() as u64,
            round - 1
        );
        insert(&mut document, 0, &round.to_string(), round * 100_000);
        journal.record(&mut document);
        close(&mut document, &journal);
    }
    files.write(&path("file"), "other\n");
    let loaded = load(
        &files,
        &path("file"),
        Binary::Refuse,
        &AtomicBool::new(false),
    );
    let reopened = reopen(&files, &journals(), loaded.expect("a text"));
    assert_eq!(reopened.document.buffer().history().steps().count(), 0);
    assert_eq!(text(&reopened.document), "other\n");
}

#[test]
fn discarded_document_is_not_recovered() {
    let files = FakeFiles::new();
    let (journal, _events) = start(&files);
    let mut document = Document::untitled();
    insert(&mut document, 0, "x", 1);
    journal.record(&mut document);
    drop(journal);
    let recovered = only(come_back(&files));
    let (journal, _events) = start(&files);
    journal.discard(recovered);
    drop(journal);
    assert!(come_back(&files).documents.is_empty());
}

/// Many documents with random operations and occasional crashes.
#[test]
fn random_operations_are_recovered() {
    for seed in 1..60_u64 {
        let mut random = Random(seed);
        let files = FakeFiles::new();
        let (mut journal, mut events) = start(&files);
        let mut document = open(&files, "file", "one\ntwo\nthree\n");
        journal.record(&mut document);
        insert(&mut document, 0, "first ", 0);
        journal.record(&mut document);
        for step in 0..80_u64 {
            act(&mut document, &mut random, step * 400);
            if random.below(3) > 0 {
                journal.record(&mut document);
            }
            if random.below(12) == 0 {
                save(&mut document, &files);
                journal.record(&mut document);
            }
            // A failing disk loses the undo tree; half of the runs keep it.
            let is_failing = seed % 2 == 0;
            if is_failing && random.below(25) == 0 {
                files.fail(FakeOperation::Sync, 1, ErrorReason::Device);
            }
            if random.below(25) == 0 {
                journal.record(&mut document);
                let state = document.state();
                drop(journal);
                let recovered = only(come_back(&files));
                assert_eq!(
                    text(&recovered.document),
                    text(&document),
                    "seed {seed}, step {step}"
                );
                let steps = |document: &Document| document.buffer().history().steps().count();
                if !is_failing {
                    let found = steps(&recovered.document);
                    assert_eq!(found, steps(&document), "seed {seed}, step {step}");
                }
                if state != DocumentState::Clean || recovered.document.is_dirty() {
                    assert!(recovered.document.is_dirty(), "seed {seed}, step {step}");
                }
                (journal, events) = start(&files);
                (document, _) = journal.adopt(recovered);
            }
        }
        drop(events);
    }
}

fn act(document: &mut Document, random: &mut Random, at: u64) {
    let at = Timestamp(at);
    let length = document.buffer().len().0;
    let steps = document.buffer().history().steps().count();
    let buffer = document.buffer_mut();
    match random.below(12) {
        0 => drop(buffer.undo()),
        1 => drop(buffer.redo()),
        2 => drop(buffer.undo_by(&Author::User, at)),
        3 if steps > 0 => {
            let node = text::NodeId(random.below(steps as u64 + 1) as u32);
            drop(buffer.go_to(node));
        }
        4 => drop(buffer.checkpoint("a name")),
        5 => {
            let first = buffer.history().checkpoints().next().map(|(id, ..)| id);
            if let Some(id) = first {
                drop(buffer.restore(id));
            }
        }
        6 => {
            let author = Author::Agent {
                session: 7,
                turn: 2,
            };
            let origin = EditOrigin::new(author, EditKind::Other, at);
            buffer.replace(random.span(length), "agent", &origin);
        }
        7 => {
            let origin = EditOrigin::new(Author::User, EditKind::Deleting, at);
            buffer.replace(random.span(length), "", &origin);
        }
        _ => {
            let words = ["x", "word ", "\n", "a\nb", "()"];
            let word = words[random.below(5) as usize];
            let offset = random.below(length as u64 + 1) as usize;
            buffer.replace(Span::at(ByteOffset(offset)), word, &EditOrigin::typing(at));
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn span(&mut self, length: usize) -> Span {
        let start = self.below(length as u64 + 1) as usize;
        let end = (start + self.below(4) as usize).min(length);
        Span::new(ByteOffset(start), ByteOffset(end))
    }
}

#[test]
fn typing_reaches_a_real_disk_soon() {
    let folder = TempFolder::new().expect("a temporary folder");
    let files = Arc::new(RealFiles);
    let journals = folder.path().join("journals");
    let (journal, _events) =
        RecoveryJournal::start(files, &RealClock::default(), &journals).expect("a journal");
    let mut document = Document::untitled();
    journal.record(&mut document);
    insert(&mut document, 0, "unmistakable", 1);
    journal.record(&mut document);
    // No flush is requested: the write happens by itself. The limit of 250 ms is measured
    // elsewhere, on an idle machine.
    let mut waited = Duration::ZERO;
    while !is_written(&journals, b"unmistakable") {
        assert!(waited < Duration::from_secs(10), "it is not written");
        std::thread::park_timeout(Duration::from_millis(5));
        waited += Duration::from_millis(5);
    }
    drop(journal);
    let recovery = recover(&RealFiles, &journals, AT);
    assert_eq!(text(&only(recovery).document), "unmistakable");
}

fn is_written(journals: &AbsPath, words: &[u8]) -> bool {
    let sessions = RealFiles.list(journals).expect("a folder").entries;
    sessions.iter().any(|session| {
        let journals = RealFiles.list(&session.path).expect("a folder").entries;
        journals.iter().any(|journal| {
            let content = RealFiles.read(&journal.path, 1 << 20).unwrap_or_default();
            content.windows(words.len()).any(|window| window == words)
        })
    })
}
