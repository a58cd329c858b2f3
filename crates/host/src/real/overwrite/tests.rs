//! Tests of saves in place, and of recovery after a crash.

use std::fs;
use std::path::Path;

use base::AbsPath;

use super::{InterruptedSaveState, interrupted, is_mixture};
use crate::content_hash::ContentHash;
use crate::error::ErrorReason;
use crate::files::{ExpectedContent, Files, OnDisk, SaveMethod, SaveRequest};
use crate::path_at::PathAt;
use crate::real::{ExistingFile, RealFiles};
use crate::temp::TempFolder;

const OLD: &str = "the old text, line one\nline two\nline three\n";
const NEW: &str = "the new text, longer than the old one by far\nline zwei\nline three\nmore\n";

struct Ground {
    folder: TempFolder,
    file: AbsPath,
    recovery: AbsPath,
}

impl Ground {
    fn new(content: &str) -> Self {
        // In memory if possible: these tests save many times.
        let folder = TempFolder::inside(Path::new("/dev/shm")).or_else(|_| TempFolder::new());
        let folder = folder.expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, content).expect("a file");
        Self {
            file,
            recovery: folder.path().join("recovery"),
            folder,
        }
    }

    fn request<'a>(&'a self, content: &'a str) -> SaveRequest<'a> {
        SaveRequest {
            path: &self.file,
            content: content.as_bytes(),
            expected: ExpectedContent::Anything,
            recovery_folder: &self.recovery,
        }
    }

    /// Leaves a record as a killed save of `content` does, and the file as `torn`.
    fn die(&self, content: &str, torn: &[u8]) {
        let old = fs::read(&self.file).expect("the file");
        let at = PathAt::absolute(&self.file);
        let status = at.status().expect("the file");
        let found = ExistingFile {
            stat: at.stat_of(&status),
            at,
            status,
        };
        let record = super::OverwriteRecord::write(&self.request(content), &found, Some(&old));
        drop(record.expect("a record"));
        fs::write(&self.file, torn).expect("the file");
    }

    fn content(&self) -> String {
        fs::read_to_string(&self.file).expect("the file")
    }

    fn records(&self) -> usize {
        fs::read_dir(&self.recovery).map_or(0, Iterator::count)
    }
}

#[test]
fn a_file_with_two_names_keeps_both() {
    let ground = Ground::new(OLD);
    let other = ground.folder.path().join("other");
    fs::hard_link(&ground.file, &other).expect("a second name");
    for content in [NEW, "short", ""] {
        let saved = RealFiles.save(&ground.request(content)).expect("saved");
        assert_eq!(saved.method, SaveMethod::Overwritten);
        assert_eq!(fs::read_to_string(&other).expect("the file"), content);
        let (bytes, stat) = RealFiles
            .read_with_stat(&ground.file, 1 << 20)
            .expect("the file");
        let on_disk = OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&bytes),
        };
        assert_eq!(saved.on_disk, on_disk);
    }
    assert_eq!(ground.records(), 0);
}

#[test]
fn a_change_by_another_program_is_never_overwritten() {
    let ground = Ground::new(OLD);
    let other = ground.folder.path().join("other");
    fs::hard_link(&ground.file, &other).expect("a second name");
    let (bytes, stat) = RealFiles
        .read_with_stat(&ground.file, 1 << 20)
        .expect("the file");
    let mut request = ground.request(NEW);
    request.expected = ExpectedContent::Unchanged(OnDisk {
        stamp: stat.stamp,
        hash: ContentHash::of(&bytes),
    });
    fs::write(&other, OLD.to_uppercase()).expect("the file");
    let error = RealFiles.save(&request).expect_err("refused");
    assert!(
        matches!(error.reason, ErrorReason::ChangedOnDisk { .. }),
        "{error}"
    );
    assert_eq!(ground.content(), OLD.to_uppercase());
    assert_eq!(ground.records(), 0);
}

#[test]
fn a_save_interrupted_anywhere_is_finished() {
    for (old, new) in [(OLD, NEW), (NEW, OLD), (OLD, ""), ("", NEW)] {
        for count in 0..=old.len().max(new.len()) {
            let ground = Ground::new(old);
            let written = count.min(new.len());
            let mut torn = new.as_bytes()[..written].to_vec();
            if let Some(rest) = old.as_bytes().get(written..) {
                torn.extend_from_slice(rest);
            }
            ground.die(new, &torn);
            let is_whole = torn == old.as_bytes() || torn == new.as_bytes();
            let (mut found, mut problems) = interrupted(&ground.recovery);
            // A process that another test starts inherits our open files, and so the record's lock,
            // until it executes its program.
            for _ in 0..400 {
                if ground.records() == 0 {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
                let (more, worse) = interrupted(&ground.recovery);
                found.extend(more);
                problems.extend(worse);
            }
            assert_eq!(problems, []);
            assert_eq!(found.is_empty(), is_whole, "after {count} bytes");
            let expected = if is_whole { torn } else { new.into() };
            assert_eq!(ground.content().as_bytes(), expected, "after {count} bytes");
            assert_eq!(ground.records(), 0);
        }
    }
}

#[test]
fn a_mixture_of_sectors_is_recognized_as_torn() {
    let old: Vec<u8> = (0..5_000_u32).map(|number| (number / 3) as u8).collect();
    let new: Vec<u8> = (0..6_000_u32).map(|number| (number / 5) as u8).collect();
    let mut torn = old.clone();
    torn[512..1024].copy_from_slice(&new[512..1024]);
    torn[4096..4608].copy_from_slice(&new[4096..4608]);
    assert!(is_mixture(&torn, &old, &new));
    torn[100] ^= 1;
    assert!(!is_mixture(&torn, &old, &new));
    assert!(!is_mixture(&new[..4_000], &old, &new), "shorter than both");
}

#[test]
fn a_changed_or_removed_file_is_not_recovered() {
    let ground = Ground::new(OLD);
    ground.die(NEW, b"something else entirely");
    let (found, problems) = interrupted(&ground.recovery);
    assert_eq!((found.len(), problems.len(), ground.records()), (1, 0, 1));
    assert_eq!(found[0].state, InterruptedSaveState::ChangedSince);
    assert_eq!(found[0].new, NEW.as_bytes());
    assert_eq!(found[0].old.as_deref(), Some(OLD.as_bytes()));
    assert_eq!(ground.content(), "something else entirely");
    fs::remove_file(&ground.file).expect("removed");
    let (found, _) = interrupted(&ground.recovery);
    assert_eq!(found[0].state, InterruptedSaveState::Gone);
    RealFiles.remove(&found[0].record).expect("decided");
    assert!(interrupted(&ground.recovery).0.is_empty());
}

#[test]
fn a_replaced_torn_file_is_not_touched() {
    let ground = Ground::new(OLD);
    let torn = format!("{}{}", &NEW[..10], &OLD[10..]);
    ground.die(NEW, b"");
    let other = ground.folder.path().join("other");
    fs::write(&other, &torn).expect("a file");
    fs::rename(&other, &ground.file).expect("replaced");
    let (found, _) = interrupted(&ground.recovery);
    assert_eq!(found[0].state, InterruptedSaveState::ChangedSince);
    assert_eq!(ground.content(), torn);
}

#[test]
fn a_damaged_record_is_reported() {
    let ground = Ground::new(OLD);
    ground.die(NEW, b"");
    let entry = fs::read_dir(&ground.recovery).expect("records").next();
    let record = entry.expect("a record").expect("a record").path();
    let whole = fs::read(&record).expect("the record");
    for length in 0..whole.len() {
        fs::write(&record, &whole[..length]).expect("the record");
        let (found, problems) = interrupted(&ground.recovery);
        assert_eq!((found.len(), problems.len()), (0, 1), "cut at {length}");
        assert!(
            problems[0].to_string().contains("it is damaged"),
            "{}",
            problems[0]
        );
    }
    for place in 0..whole.len() {
        let mut wrong = whole.clone();
        wrong[place] ^= 0x40;
        fs::write(&record, &wrong).expect("the record");
        let (found, problems) = interrupted(&ground.recovery);
        assert_eq!((found.len(), problems.len()), (0, 1), "wrong at {place}");
    }
    assert_eq!(ground.content(), "");
}

#[test]
fn an_incomplete_record_is_ignored() {
    let ground = Ground::new(OLD);
    fs::create_dir(&ground.recovery).expect("a folder");
    fs::write(ground.recovery.join("1-2-3.part"), "half").expect("a file");
    assert_eq!(interrupted(&ground.recovery), (Vec::new(), Vec::new()));
    assert_eq!(ground.records(), 0);
}
