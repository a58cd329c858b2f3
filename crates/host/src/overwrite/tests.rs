//! Saves in place, and what a crash leaves of them.

use std::fs;
use std::path::Path;

use base::AbsPath;

use super::{InterruptedState, interrupted, is_mixture};
use crate::content::ContentHash;
use crate::error::Reason;
use crate::files::{Expected, Files, OnDisk, SaveRequest, SaveWay};
use crate::real::{Found, RealFiles, stat_of};
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
        // In memory where there is such a place: these tests save many times.
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
            expected: Expected::Anything,
            recovery_folder: &self.recovery,
        }
    }

    /// Leaves a record as a save of `content` does that is killed, and the file as `torn`.
    fn die(&self, content: &str, torn: &[u8]) {
        let old = fs::read(&self.file).expect("the file");
        let metadata = fs::metadata(&self.file).expect("the file");
        let found = Found {
            path: self.file.clone(),
            stat: stat_of(&self.file, &metadata),
            metadata,
        };
        let record = super::Record::write(&self.request(content), &found, Some(&old));
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
        assert_eq!(saved.way, SaveWay::Overwritten);
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
    request.expected = Expected::Unchanged(OnDisk {
        stamp: stat.stamp,
        hash: ContentHash::of(&bytes),
    });
    fs::write(&other, OLD.to_uppercase()).expect("the file");
    let error = RealFiles.save(&request).expect_err("refused");
    assert!(
        matches!(error.reason, Reason::ChangedOnDisk { .. }),
        "{error}"
    );
    assert_eq!(ground.content(), OLD.to_uppercase());
    assert_eq!(ground.records(), 0);
}

#[test]
fn wherever_a_save_is_cut_short_it_is_finished() {
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
            // A process that another test starts holds our open files, and so the lock of the
            // record, until it has begun its own program.
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
fn sectors_of_both_are_our_own_tearing() {
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
fn a_file_that_was_changed_or_removed_since_is_left_to_the_user() {
    let ground = Ground::new(OLD);
    ground.die(NEW, b"something else entirely");
    let (found, problems) = interrupted(&ground.recovery);
    assert_eq!((found.len(), problems.len(), ground.records()), (1, 0, 1));
    assert_eq!(found[0].state, InterruptedState::ChangedSince);
    assert_eq!(found[0].new, NEW.as_bytes());
    assert_eq!(found[0].old.as_deref(), Some(OLD.as_bytes()));
    assert_eq!(ground.content(), "something else entirely");
    fs::remove_file(&ground.file).expect("removed");
    let (found, _) = interrupted(&ground.recovery);
    assert_eq!(found[0].state, InterruptedState::Gone);
    RealFiles.remove(&found[0].record).expect("decided");
    assert!(interrupted(&ground.recovery).0.is_empty());
}

#[test]
fn a_torn_file_that_was_replaced_by_a_new_one_is_not_touched() {
    let ground = Ground::new(OLD);
    let torn = format!("{}{}", &NEW[..10], &OLD[10..]);
    ground.die(NEW, b"");
    let other = ground.folder.path().join("other");
    fs::write(&other, &torn).expect("a file");
    fs::rename(&other, &ground.file).expect("replaced");
    let (found, _) = interrupted(&ground.recovery);
    assert_eq!(found[0].state, InterruptedState::ChangedSince);
    assert_eq!(ground.content(), torn);
}

#[test]
fn a_record_that_is_torn_or_nonsense_is_a_sentence() {
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
fn a_record_still_being_written_is_no_save() {
    let ground = Ground::new(OLD);
    fs::create_dir(&ground.recovery).expect("a folder");
    fs::write(ground.recovery.join("1-2-3.part"), "half").expect("a file");
    assert_eq!(interrupted(&ground.recovery), (Vec::new(), Vec::new()));
    assert_eq!(ground.records(), 0);
}
