//! Files that open, and the messages for those that do not.

use std::sync::atomic::AtomicBool;

use base::AbsPath;
use host::{ErrorReason, FakeFiles, FakeOperation};

use super::{Binary, LONG_LINE, LoadError, Loaded, TOO_LARGE, has_long_line, load};

fn path(name: &str) -> AbsPath {
    AbsPath::new("/folder").expect("absolute").join(name)
}

fn open(files: &FakeFiles, name: &str) -> Result<Loaded, LoadError> {
    load(files, &path(name), Binary::Refuse, &AtomicBool::new(false))
}

fn refusal(files: &FakeFiles, name: &str) -> String {
    match open(files, name) {
        Ok(_) => panic!("{name} was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_document_can_be_loaded_on_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Loaded>();
    is_send::<LoadError>();
}

#[test]
fn text_files_load_by_example() {
    let files = FakeFiles::new();
    files.write(&path("a"), "one\r\ntwo\n");
    let loaded = open(&files, "a").expect("a text");
    assert_eq!(loaded.buffer.snapshot().to_string(), "one\r\ntwo\n");
    assert_eq!(loaded.read_only, None);
    assert!(!loaded.flags.is_large && !loaded.flags.has_long_line);
    assert!(!loaded.flags.is_write_protected);
    files.set_mode(&path("a"), 0o444);
    assert!(open(&files, "a").expect("a text").flags.is_write_protected);
}

#[test]
fn binary_files_are_refused_or_read_only() {
    let files = FakeFiles::new();
    let picture: Vec<u8> = (0..4_000_u32)
        .map(|number| (number * 7 % 256) as u8)
        .collect();
    files.write(&path("a"), &picture);
    assert_eq!(
        refusal(&files, "a"),
        "cannot open /folder/a: it is not text; open it read-only to view it"
    );
    let shown = load(
        &files,
        &path("a"),
        Binary::ShowLossy,
        &AtomicBool::new(false),
    );
    assert!(shown.expect("shown").read_only.is_some());
}

#[test]
fn missing_files_and_folders_are_refused() {
    let files = FakeFiles::new();
    files.folder(&path("folder"));
    files.pipe(&path("pipe"));
    files.link(&path("broken"), "missing");
    files.link(&path("circle"), "circle");
    files.write(&path("secret"), "x");
    files.set_mode(&path("secret"), 0o200);
    let check = |name: &str, words: &str| {
        let refusal = refusal(&files, name);
        assert!(
            refusal.starts_with(&format!("cannot open /folder/{name}: ")),
            "{refusal}"
        );
        assert!(refusal.contains(words), "{refusal}");
    };
    check("folder", "it is a folder");
    check("pipe", "it is a pipe, socket or device");
    check("broken", "broken link: missing does not exist");
    check("circle", "links lead in a circle");
    check("missing", "there is no such file");
    check("secret", "permission denied");
}

#[test]
fn too_large_or_unreadable_files_are_refused() {
    let files = FakeFiles::new();
    files.write(&path("a"), "x");
    let limit = TOO_LARGE - 1;
    files.fail(
        FakeOperation::Read,
        1,
        ErrorReason::TooLarge {
            size: 3 << 30,
            limit,
        },
    );
    assert!(refusal(&files, "a").contains("3221225472 bytes"));
    files.fail(FakeOperation::Read, 1, ErrorReason::Device);
    assert!(refusal(&files, "a").contains("the disk reported an error"));
    let cancelled = load(&files, &path("a"), Binary::Refuse, &AtomicBool::new(true));
    assert!(
        matches!(cancelled, Err(LoadError::Files(error)) if error.reason == ErrorReason::Cancelled)
    );
}

#[test]
fn long_lines_are_detected() {
    let check = |lengths: &[usize], expected: bool| {
        let lines = lengths.iter().map(|length| "x".repeat(*length));
        let text = lines.collect::<Vec<_>>().join("\n");
        assert_eq!(has_long_line(text.as_bytes()), expected, "{lengths:?}");
    };
    check(&[], false);
    check(&[LONG_LINE], true);
    check(&[LONG_LINE - 1], false);
    check(&[LONG_LINE - 1, LONG_LINE - 1, 5], false);
    check(&[10, LONG_LINE, 10], true);
    check(&[LONG_LINE / 2, LONG_LINE - 1, LONG_LINE / 2], false);
    check(&[5, LONG_LINE - 1, LONG_LINE + 5], true);
}
