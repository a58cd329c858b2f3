//! The relation between a document and its file, through changes of both.

use std::sync::atomic::AtomicBool;

use base::{AbsPath, ByteOffset, NameRules, Span};
use host::{FakeFiles, Files, RealFiles};
use test_support::{Spellings, spelling_count};
use text::{Author, EditOrigin, Timestamp};

use super::{DiskOutcome, Document, DocumentState};
use crate::load::{Binary, load};
use crate::save::{SaveError, SaveOptions, SaveRefused, SaveTarget};

const AT: Timestamp = Timestamp(1_000);

struct Ground {
    files: FakeFiles,
    path: AbsPath,
    document: Document,
}

impl Ground {
    fn new(content: &str) -> Self {
        let files = FakeFiles::new();
        let path = AbsPath::new("/folder/file.txt").expect("absolute");
        files.write(&path, content);
        let loaded = load(&files, &path, Binary::Refuse, &AtomicBool::new(false));
        Self {
            files,
            path,
            document: Document::from_loaded(loaded.expect("a text")),
        }
    }

    fn insert(&mut self, offset: usize, text: &str) {
        let span = Span::at(ByteOffset(offset));
        let origin = EditOrigin::typing(AT);
        self.document.buffer_mut().replace(span, text, &origin);
    }

    fn text(&self) -> String {
        self.document.snapshot().to_string()
    }

    fn look(&mut self) -> DiskOutcome {
        let check = self.document.check_disk().expect("a file");
        let finding = check.run(&self.files);
        self.document.accept_disk(finding, AT)
    }

    fn save(&mut self) -> Result<(), String> {
        let folder = AbsPath::new("/recovery").expect("absolute");
        let job = self
            .document
            .prepare_save(SaveTarget::Own, SaveOptions::default(), &folder, AT);
        let outcome = job.map_err(|error| error.to_string())?.run(&self.files);
        let done = self.document.accept_save(outcome);
        done.map(drop).map_err(|error| error.to_string())
    }

    fn disk(&self) -> String {
        let content = self.files.content(&self.path).expect("a file");
        String::from_utf8(content).expect("text")
    }

    fn check(&self, state: &DocumentState, text: &str) {
        assert_eq!(
            (&self.document.state(), self.text().as_str()),
            (state, text)
        );
    }
}

#[test]
fn editing_undoing_and_saving_change_the_state() {
    let mut ground = Ground::new("one\n");
    ground.check(&DocumentState::Clean, "one\n");
    ground.insert(3, "!");
    ground.check(&DocumentState::Dirty, "one!\n");
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Clean, "one\n");
    ground.document.buffer_mut().redo();
    ground.check(&DocumentState::Dirty, "one!\n");
    ground.save().expect("saved");
    ground.check(&DocumentState::Clean, "one!\n");
    assert_eq!(ground.disk(), "one!\n");
    // Further edits must not change the saved state.
    ground.insert(4, "?");
    ground.check(&DocumentState::Dirty, "one!?\n");
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Clean, "one!\n");
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Dirty, "one\n");
}

#[test]
fn an_untitled_document_is_dirty_once_it_has_text() {
    let mut document = Document::untitled();
    assert_eq!(document.state(), DocumentState::Untitled);
    assert!(!document.is_dirty());
    assert_eq!(document.title(), "untitled");
    let origin = EditOrigin::typing(AT);
    let start = Span::at(ByteOffset(0));
    document
        .buffer_mut()
        .replace(start, "\n  a thought\nand more", &origin);
    assert!(document.is_dirty());
    assert_eq!(document.title(), "a thought");
    let folder = AbsPath::new("/recovery").expect("absolute");
    let refused = document.prepare_save(SaveTarget::Own, SaveOptions::default(), &folder, AT);
    assert_eq!(refused.err(), Some(SaveRefused::Untitled));
}

#[test]
fn clean_document_reloads_undoably() {
    let mut ground = Ground::new("one\ntwo\nthree\n");
    let anchor = ground
        .document
        .buffer_mut()
        .create_anchor(ByteOffset(9), base::Bias::Left);
    ground.files.write(&ground.path, "zero\none\n2\nthree\n");
    let outcome = ground.look();
    assert!(matches!(&outcome, DiskOutcome::Reloaded(change) if change.author == Author::Disk));
    ground.check(&DocumentState::Clean, "zero\none\n2\nthree\n");
    // Unchanged text keeps its anchors.
    assert_eq!(ground.document.buffer().resolve(anchor), ByteOffset(12));
    assert!(matches!(ground.look(), DiskOutcome::Unchanged));
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Dirty, "one\ntwo\nthree\n");
    ground.save().expect("saved");
    assert_eq!(ground.disk(), "one\ntwo\nthree\n");
}

#[test]
fn reload_takes_over_random_changes_exactly() {
    let texts = [
        "",
        "\n",
        "a",
        "a\n",
        "a\nb",
        "a\nb\n",
        "a\r\nb\r\n",
        "b\na\n",
        "a\n\nb\n",
        "ä\nb",
        "a\nb\n\n",
    ];
    for before in texts {
        for after in texts {
            let mut ground = Ground::new(before);
            ground.files.write(&ground.path, after);
            ground.look();
            ground.check(&DocumentState::Clean, after);
            assert_eq!(ground.save(), Ok(()), "{before:?} {after:?}");
            assert_eq!(ground.disk(), after);
        }
    }
}

#[test]
fn touched_file_is_unchanged() {
    let mut ground = Ground::new("one\n");
    ground.files.write(&ground.path, "one\n");
    assert!(matches!(ground.look(), DiskOutcome::Unchanged));
    ground.check(&DocumentState::Clean, "one\n");
    ground.insert(0, "x");
    ground.save().expect("saved");
}

#[test]
fn dirty_document_conflicts_and_cannot_be_saved() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "their one\n");
    assert!(matches!(ground.look(), DiskOutcome::Conflict));
    ground.check(&DocumentState::Conflict, "my one\n");
    let theirs = ground
        .document
        .conflict()
        .and_then(|conflict| conflict.theirs.clone());
    assert_eq!(theirs.expect("a text").to_string(), "their one\n");
    let refused = ground.save().expect_err("refused");
    assert!(refused.contains("choose whose text to keep"), "{refused}");
    assert_eq!(ground.disk(), "their one\n");
    ground.document.keep_mine();
    ground.check(&DocumentState::Dirty, "my one\n");
    ground.save().expect("saved");
    assert_eq!(ground.disk(), "my one\n");
    ground.check(&DocumentState::Clean, "my one\n");
}

#[test]
fn taking_theirs_can_be_undone() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "their one\n");
    ground.look();
    ground.document.take_theirs(AT).expect("a change");
    ground.check(&DocumentState::Clean, "their one\n");
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Dirty, "my one\n");
}

#[test]
fn save_over_a_changed_file_conflicts() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "their one\n");
    // There was no disk check before: the save itself notices.
    let error = ground.save().expect_err("refused");
    assert!(error.contains("changed by another program"), "{error}");
    assert_eq!(ground.disk(), "their one\n");
    ground.check(&DocumentState::Conflict, "my one\n");
    ground.document.keep_mine();
    ground.files.write(&ground.path, "once more\n");
    ground.save().expect_err("it changed after the decision");
    assert_eq!(ground.disk(), "once more\n");
    ground.check(&DocumentState::Conflict, "my one\n");
}

#[test]
fn the_same_change_on_both_sides_is_no_conflict() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "my one\n");
    assert!(matches!(ground.look(), DiskOutcome::Unchanged));
    ground.check(&DocumentState::Clean, "my one\n");
}

#[test]
fn saving_recreates_a_deleted_file() {
    let mut ground = Ground::new("one\n");
    ground.files.delete(&ground.path);
    assert!(matches!(ground.look(), DiskOutcome::Deleted));
    assert!(matches!(ground.look(), DiskOutcome::Unchanged), "told once");
    ground.check(&DocumentState::DeletedOnDisk, "one\n");
    assert!(ground.document.is_dirty());
    ground.save().expect("saved");
    assert_eq!(ground.disk(), "one\n");
    ground.check(&DocumentState::Clean, "one\n");
}

#[test]
fn restored_file_is_clean_again() {
    let mut ground = Ground::new("one\n");
    ground.files.delete(&ground.path);
    ground.look();
    ground.files.write(&ground.path, "one\n");
    ground.look();
    ground.check(&DocumentState::Clean, "one\n");
    ground.files.delete(&ground.path);
    ground.look();
    ground.files.write(&ground.path, "two\n");
    assert!(matches!(ground.look(), DiskOutcome::Reloaded(_)));
    ground.check(&DocumentState::Clean, "two\n");
}

#[test]
fn a_file_that_is_renamed_during_a_check_is_not_deleted() {
    let mut ground = Ground::new("one\n");
    ground.files.delete(&ground.path);
    ground.look();
    let path = AbsPath::new("/w/renamed.txt").expect("absolute");
    ground.files.write(&path, "one\n");
    ground.document.set_path(path);
    ground.check(&DocumentState::Clean, "one\n");
}

#[test]
fn edits_during_a_check_or_save_stay() {
    let mut ground = Ground::new("one\n");
    ground.files.write(&ground.path, "two\n");
    let finding = ground
        .document
        .check_disk()
        .expect("a file")
        .run(&ground.files);
    ground.insert(0, "my ");
    let outcome = ground.document.accept_disk(finding, AT);
    assert!(matches!(outcome, DiskOutcome::Conflict), "{outcome:?}");
    assert_eq!(ground.text(), "my one\n");
    ground.document.keep_mine();

    let folder = AbsPath::new("/recovery").expect("absolute");
    let options = SaveOptions::default();
    let job = ground
        .document
        .prepare_save(SaveTarget::Own, options, &folder, AT);
    let job = job.expect("a job");
    let second = ground
        .document
        .prepare_save(SaveTarget::Own, options, &folder, AT);
    assert_eq!(second.err(), Some(SaveRefused::UnderWay));
    ground.insert(0, "really ");
    let outcome = job.run(&ground.files);
    ground.document.accept_save(outcome).expect("saved");
    assert_eq!(ground.disk(), "my one\n");
    ground.check(&DocumentState::Dirty, "really my one\n");
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Clean, "my one\n");
}

#[test]
fn dropped_save_does_not_block_the_next() {
    let mut ground = Ground::new("one\n");
    let folder = AbsPath::new("/recovery").expect("absolute");
    let options = SaveOptions::default();
    let job = ground
        .document
        .prepare_save(SaveTarget::Own, options, &folder, AT);
    drop(job.expect("a job"));
    ground.insert(0, "x");
    ground.save().expect("saved");
}

#[test]
fn a_refused_save_leaves_the_document_dirty_and_says_why() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.set_mode(&ground.path, 0o444);
    let error = ground.save().expect_err("refused");
    assert!(error.contains("marked read-only"), "{error}");
    ground.check(&DocumentState::Dirty, "my one\n");
    ground.files.set_mode(&ground.path, 0o644);
    for reason in [
        host::ErrorReason::NoSpace,
        host::ErrorReason::Device,
        host::ErrorReason::ReadOnlyVolume,
    ] {
        ground.files.fail(host::FakeOperation::Save, 1, reason);
        ground.save().expect_err("refused");
        ground.check(&DocumentState::Dirty, "my one\n");
        assert_eq!(ground.disk(), "one\n");
    }
    ground.save().expect("the retry works");
    ground.check(&DocumentState::Clean, "my one\n");
}

#[test]
fn a_character_the_encoding_lacks_is_named() {
    let mut ground = Ground::new("one\n");
    let Some(encoding) = text::Encoding::named("windows-1252") else {
        panic!("no windows-1252");
    };
    let format = text::FileFormat {
        encoding,
        ..ground.document.format()
    };
    ground.document.set_format(format);
    ground.check(&DocumentState::Dirty, "one\n");
    ground.insert(0, "ž");
    ground.save().expect("a letter it has");
    assert_eq!(
        ground.files.content(&ground.path).expect("a file"),
        b"\x9eone\n"
    );
    ground.insert(0, "語");
    let error = ground.save().expect_err("refused");
    assert!(error.contains("語"), "{error}");
    ground.check(&DocumentState::Dirty, "語žone\n");
}

#[test]
fn saving_under_another_name_moves_the_document() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    let folder = AbsPath::new("/recovery").expect("absolute");
    let other = AbsPath::new("/folder/other.txt").expect("absolute");
    let mut save = |target: SaveTarget| {
        let options = SaveOptions::default();
        let job = ground.document.prepare_save(target, options, &folder, AT);
        let outcome = job.expect("a job").run(&ground.files);
        ground.document.accept_save(outcome)
    };
    ground.files.write(&other, "precious\n");
    let refused = save(SaveTarget::New(other.clone()));
    assert!(matches!(refused, Err(SaveError::Files(_))), "{refused:?}");
    save(SaveTarget::Over(other.clone())).expect("saved");
    assert_eq!(ground.document.path(), Some(&other));
    ground.check(&DocumentState::Clean, "my one\n");
    assert_eq!(ground.files.read(&other, 100), Ok(b"my one\n".to_vec()));
    assert_eq!(ground.disk(), "one\n");
}

#[test]
fn file_turned_binary_conflicts_without_text() {
    let mut ground = Ground::new("one\n");
    let picture: Vec<u8> = (0..4_000_u32)
        .map(|number| (number * 7 % 256) as u8)
        .collect();
    ground.files.write(&ground.path, picture);
    assert!(matches!(ground.look(), DiskOutcome::Conflict));
    let theirs = ground
        .document
        .conflict()
        .map(|conflict| conflict.theirs.is_some());
    assert_eq!(theirs, Some(false));
    assert!(ground.document.take_theirs(AT).is_none());
    ground.check(&DocumentState::Conflict, "one\n");
}

#[test]
fn conflict_ends_when_the_file_is_restored() {
    let mut ground = Ground::new("one\ntwo\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "theirs\n");
    assert!(matches!(ground.look(), DiskOutcome::Conflict));
    ground.files.write(&ground.path, "one\ntwo\n");
    assert!(matches!(ground.look(), DiskOutcome::Unchanged));
    ground.check(&DocumentState::Dirty, "my one\ntwo\n");
    ground.save().expect("nothing is in the way");
    assert_eq!(ground.disk(), "my one\ntwo\n");
}

#[test]
fn conflict_ends_when_text_equals_the_file() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.save().expect("saved");
    ground.insert(0, "and ");
    ground.files.write(&ground.path, "one\n");
    assert!(matches!(ground.look(), DiskOutcome::Conflict));
    ground.document.buffer_mut().undo();
    ground.document.buffer_mut().undo();
    ground.check(&DocumentState::Clean, "one\n");
    ground.save().expect("the two are the same");
    ground.insert(0, "new ");
    ground.check(&DocumentState::Dirty, "new one\n");
    ground.save().expect("nothing is in the way");
    assert_eq!(ground.disk(), "new one\n");
}

#[test]
fn a_conflict_ends_when_the_edits_are_undone() {
    for saves in [false, true] {
        let mut ground = Ground::new("one\n");
        ground.insert(0, "my ");
        ground.files.write(&ground.path, "theirs\n");
        assert!(matches!(ground.look(), DiskOutcome::Conflict));
        ground.document.buffer_mut().undo();
        ground.check(&DocumentState::Clean, "one\n");
        if saves {
            ground.save().expect("there is nothing of its own to save")
        } else {
            assert!(matches!(ground.look(), DiskOutcome::Reloaded(_)))
        }
        ground.check(&DocumentState::Clean, "theirs\n");
        assert_eq!(ground.disk(), "theirs\n");
    }
}

#[test]
fn redone_edits_conflict_again() {
    let mut ground = Ground::new("one\n");
    ground.insert(0, "my ");
    ground.files.write(&ground.path, "theirs\n");
    assert!(matches!(ground.look(), DiskOutcome::Conflict));
    ground.document.buffer_mut().undo();
    ground.document.buffer_mut().redo();
    ground.check(&DocumentState::Conflict, "my one\n");
    assert!(ground.save().is_err());
    assert_eq!(ground.disk(), "theirs\n");
}

#[test]
fn saving_recreates_a_deleted_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = AbsPath::new(folder.path()).expect("absolute");
    let inner = root.join("a").join("b");
    let path = inner.join("file.txt");
    RealFiles.create_folder(&inner).expect("create");
    RealFiles.write_private(&path, b"one\n").expect("write");
    let loaded = load(&RealFiles, &path, Binary::Refuse, &AtomicBool::new(false));
    let mut document = Document::from_loaded(loaded.expect("a text"));
    RealFiles.remove(&root.join("a")).expect("remove");
    let finding = document.check_disk().expect("a file").run(&RealFiles);
    assert!(matches!(
        document.accept_disk(finding, AT),
        DiskOutcome::Deleted
    ));
    let job = document.prepare_save(SaveTarget::Own, SaveOptions::default(), &root, AT);
    let outcome = job.expect("nothing is in the way").run(&RealFiles);
    document.accept_save(outcome).expect("saved");
    assert_eq!(RealFiles.read(&path, 100).expect("there"), b"one\n");
    assert_eq!(document.state(), DocumentState::Clean);
}

#[test]
fn every_spelling_opens_the_same_document() {
    let files = FakeFiles::with_names(NameRules::FOLDING);
    let root = AbsPath::new("/Work").expect("absolute");
    let stored = root.join("Src/Strasse/Caf\u{e9} Kiosk.txt");
    files.write(&stored, "text");
    let open = |path: &AbsPath| {
        let loaded = load(&files, path, Binary::Refuse, &AtomicBool::new(false));
        Document::from_loaded(loaded.expect("a text"))
    };
    let document = open(&stored);
    let mut spellings = Spellings::new(7);
    for _ in 0..spelling_count(300) {
        let spelled = root.join(spellings.of("src/strasse/caf\u{e9} kiosk.txt"));
        let other = open(&spelled);
        assert_eq!(other.path(), Some(&stored), "{spelled}");
        let real = files.canonicalize(&spelled).expect("a path");
        let stamp = files.stat(&spelled).expect("a stat").stamp;
        assert!(document.is_same_file(&real, &stamp), "{spelled}");
    }
    files.write(&root.join("other"), "text");
    let stamp = files.stat(&root.join("other")).expect("a stat").stamp;
    assert!(!document.is_same_file(&root.join("other"), &stamp));
}

#[test]
fn a_document_follows_a_rename_of_case_alone() {
    let files = FakeFiles::with_names(NameRules::FOLDING);
    let (old, new) = ("/folder/file.txt", "/folder/FILE.txt");
    let [old, new] = [old, new].map(|path| AbsPath::new(path).expect("absolute"));
    files.write(&old, "text");
    let loaded = load(&files, &old, Binary::Refuse, &AtomicBool::new(false));
    let mut ground = Ground {
        document: Document::from_loaded(loaded.expect("a text")),
        path: new.clone(),
        files,
    };
    ground.insert(0, "more ");
    ground.files.rename(&old, &new).expect("renamed");
    let stamp = ground.files.stat(&new).expect("a stat").stamp;
    assert!(
        ground.document.is_same_file(&new, &stamp),
        "before the check"
    );
    ground.look();
    assert_eq!(ground.document.path(), Some(&new));
    ground.save().expect("saved");
    assert_eq!(ground.disk(), "more text");
    let listing = ground.files.list(&new.parent().expect("a folder"));
    assert_eq!(listing.expect("a listing").entries.len(), 1);
}
