//! Saves with clean-ups, and saves that the disk did not confirm.

use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::FakeFiles;
use text::{Author, Timestamp};

use super::{SaveJob, SaveOptions, SaveOutcome, SaveTarget};
use crate::document::{Document, DocumentState};
use crate::load::{Binary, load};

const AT: Timestamp = Timestamp(5);

fn document(files: &FakeFiles, path: &AbsPath) -> Document {
    let loaded = load(files, path, Binary::Refuse, &AtomicBool::new(false));
    Document::from_loaded(loaded.expect("a text"))
}

#[test]
fn save_jobs_and_outcomes_are_send() {
    fn is_send<T: Send>() {}
    is_send::<SaveJob>();
    is_send::<SaveOutcome>();
}

#[test]
fn clean_ups_are_an_undoable_formatter_edit() {
    let files = FakeFiles::new();
    let path = AbsPath::new("/file").expect("absolute");
    files.write(&path, "one  \ntwo");
    let mut document = document(&files, &path);
    let options = SaveOptions {
        trim_trailing_whitespace: true,
        final_newline: true,
    };
    let job = document.prepare_save(SaveTarget::Own, options, &path, AT);
    let outcome = job.expect("a job").run(&files);
    document.accept_save(outcome).expect("saved");
    assert_eq!(files.content(&path).expect("a file"), b"one\ntwo\n");
    assert_eq!(document.state(), DocumentState::Clean);
    let authors: Vec<_> = document
        .buffer()
        .history()
        .steps()
        .map(|step| step.author)
        .collect();
    assert_eq!(authors, [Author::Formatter]);
    document.buffer_mut().undo();
    assert_eq!(document.snapshot().to_string(), "one  \ntwo");
    assert_eq!(document.state(), DocumentState::Dirty);
}

#[test]
fn read_only_text_cannot_be_saved_in_place() {
    let files = FakeFiles::new();
    let path = AbsPath::new("/file").expect("absolute");
    let picture: Vec<u8> = (0..4_000_u32)
        .map(|number| (number * 7 % 256) as u8)
        .collect();
    files.write(&path, &picture);
    let loaded = load(&files, &path, Binary::ShowLossy, &AtomicBool::new(false));
    let mut document = Document::from_loaded(loaded.expect("shown"));
    assert!(!document.can_edit());
    let refused = document.prepare_save(SaveTarget::Own, SaveOptions::default(), &path, AT);
    let sentence = refused.expect_err("refused").to_string();
    assert!(sentence.contains("it is not text"), "{sentence}");
    assert_eq!(files.content(&path), Some(picture));
}
