//! Tests of preserved metadata, and of leftovers after a crash.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use base::AbsPath;

use super::ExistingFile;
use super::temp::{Temp, is_temp_name};
use crate::content_hash::ContentHash;
use crate::error::{Error, ErrorReason};
use crate::files::{ExpectedContent, Files, OnDisk, SaveMethod, SaveRequest, SaveResult};
use crate::path_at::PathAt;
use crate::real::RealFiles;
use crate::temp::TempFolder;

struct Ground {
    folder: TempFolder,
    file: AbsPath,
}

impl Ground {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let file = folder.path().join("file");
        fs::write(&file, "old").expect("a file");
        Self { file, folder }
    }

    fn save(&self, content: &str, expected: ExpectedContent) -> Result<SaveResult, Error> {
        RealFiles.save(&SaveRequest {
            path: &self.file,
            content: content.as_bytes(),
            expected,
            recovery_folder: &self.folder.path().join("recovery"),
        })
    }

    fn on_disk(&self) -> OnDisk {
        let read = RealFiles.read_with_stat(&self.file, 1 << 20);
        let (content, stat) = read.expect("the file");
        OnDisk {
            stamp: stat.stamp,
            hash: ContentHash::of(&content),
        }
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn mode_attributes_and_access_list_are_kept() {
    let ground = Ground::new();
    fs::set_permissions(&ground.file, fs::Permissions::from_mode(0o4751)).expect("a mode");
    let has_attributes = xattr::set(&ground.file, "user.colour", b"blue").is_ok();
    let has_list = Command::new("setfacl")
        .args(["-m", "u:12345:r"])
        .arg(ground.file.as_path())
        .status()
        .is_ok_and(|status| status.success());
    if !has_attributes || !has_list {
        test_support::skip_part(format_args!(
            "this file system has attributes: {has_attributes}, access lists: {has_list}"
        ));
    }
    let before = fs::metadata(&ground.file).expect("the file");
    let list = xattr::get(&ground.file, "system.posix_acl_access")
        .ok()
        .flatten();
    let saved = ground
        .save("new", ExpectedContent::Anything)
        .expect("saved");
    assert_eq!(saved.method, SaveMethod::Replaced);
    let after = fs::metadata(&ground.file).expect("the file");
    assert_ne!(before.ino(), after.ino(), "it was not replaced");
    assert_eq!(before.mode(), after.mode());
    let colour = xattr::get(&ground.file, "user.colour").ok().flatten();
    assert_eq!(colour.is_some(), has_attributes);
    let kept = xattr::get(&ground.file, "system.posix_acl_access")
        .ok()
        .flatten();
    assert_eq!(kept, list);
}

#[test]
fn a_default_acl_is_not_added_to_existing_files() {
    let ground = Ground::new();
    let status = Command::new("setfacl")
        .args(["-d", "-m", "u:12345:rw"])
        .arg(ground.folder.path().as_path())
        .status();
    if !status.is_ok_and(|status| status.success()) {
        return test_support::skip("no access lists here");
    }
    ground
        .save("new", ExpectedContent::Anything)
        .expect("saved");
    let list = xattr::get(&ground.file, "system.posix_acl_access")
        .ok()
        .flatten();
    assert_eq!(list, None);
    assert_eq!(
        fs::metadata(&ground.file).expect("the file").mode() & 0o777,
        0o644
    );
}

#[test]
fn the_owner_is_kept() {
    let ground = Ground::new();
    if chown(&ground.file, Some(12345), Some(54321)).is_err() {
        return test_support::skip("only root can give files away");
    }
    fs::set_permissions(&ground.file, fs::Permissions::from_mode(0o666)).expect("a mode");
    ground
        .save("new", ExpectedContent::Anything)
        .expect("saved");
    let after = fs::metadata(&ground.file).expect("the file");
    assert_eq!((after.uid(), after.gid()), (12345, 54321));
}

#[test]
fn a_new_file_gets_the_usual_mode() {
    let ground = Ground::new();
    let other = ground.folder.path().join("other");
    fs::write(&other, "").expect("a file");
    let usual = fs::metadata(&other).expect("the file").mode();
    fs::remove_file(&ground.file).expect("removed");
    ground.save("new", ExpectedContent::Absent).expect("saved");
    assert_eq!(fs::metadata(&ground.file).expect("the file").mode(), usual);
}

#[test]
fn a_save_removes_leftovers_of_a_crashed_one() {
    let ground = Ground::new();
    let mut temp = Temp::create(&PathAt::absolute(&ground.file), 0o600).expect("a temporary file");
    let left = temp.at().path().clone();
    temp.persist();
    drop(temp);
    assert!(left.as_path().file_name().is_some_and(is_temp_name));
    assert_eq!(ground.names().len(), 2);
    ground
        .save("new", ExpectedContent::Anything)
        .expect("saved");
    assert_eq!(ground.names(), ["file"]);
}

#[test]
fn a_sweep_removes_only_stale_files() {
    let ground = Ground::new();
    let alive = Temp::create(&PathAt::absolute(&ground.file), 0o600).expect("a temporary file");
    let mut dead = Temp::create(&PathAt::absolute(&ground.file), 0o600).expect("another one");
    assert_ne!(alive.at().path(), dead.at().path());
    dead.persist();
    drop(dead);
    let foreign = ground.folder.path().join(".burin-notes.txt");
    fs::write(&foreign, "the user's").expect("a file");
    RealFiles.sweep(ground.folder.path()).expect("swept");
    let alive_name = alive.at().path().name();
    let mut expected = [alive_name.as_str(), ".burin-notes.txt", "file"];
    expected.sort_unstable();
    assert_eq!(ground.names(), expected);
}

#[test]
fn a_failed_save_leaves_no_temporary_file() {
    let ground = Ground::new();
    let known = ExpectedContent::Unchanged(ground.on_disk());
    fs::write(&ground.file, "other").expect("a change");
    ground.save("new", known).expect_err("refused");
    assert_eq!(ground.names(), ["file"]);
}

#[test]
fn a_same_tick_change_is_seen() {
    let ground = Ground::new();
    let known = ground.on_disk();
    // Length and time are the same: only the bytes differ.
    fs::write(&ground.file, "OLD").expect("a change");
    let file = fs::File::options()
        .write(true)
        .open(&ground.file)
        .expect("the file");
    let nanos = u64::try_from(known.stamp.mtime_ns).expect("after 1970");
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanos);
    file.set_modified(then).expect("a time");
    assert_eq!(ground.on_disk().stamp, known.stamp);
    let error = ground
        .save("new", ExpectedContent::Unchanged(known))
        .expect_err("refused");
    assert!(
        matches!(error.reason, ErrorReason::ChangedOnDisk { .. }),
        "{error}"
    );
}

#[test]
fn links_deeper_than_the_kernel_follows_are_refused() {
    let ground = Ground::new();
    let mut last = ground.folder.path().join("born");
    for number in 0..50 {
        let link = ground.folder.path().join(format!("link{number}"));
        std::os::unix::fs::symlink(&last, &link).expect("a link");
        last = link;
    }
    let request = SaveRequest {
        path: &last,
        content: b"x",
        expected: ExpectedContent::Absent,
        recovery_folder: ground.folder.path(),
    };
    let error = RealFiles.save(&request).expect_err("refused");
    assert_eq!(error.reason, ErrorReason::LinkLoop);
}

/// Another program rewrites the file repeatedly, by renaming as careful programs do. Every version
/// that the save replaces must be the one it expected.
#[test]
fn racing_programs_never_overwrite_silently() {
    const ROUNDS: u32 = 400;
    let ground = Ground::new();
    let stop = AtomicBool::new(false);
    let mut saves = 0;
    let theirs = ground.folder.path().join("theirs");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The other program replaces a version of ours only after it has seen it.
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                fs::write(&theirs, format!("theirs {number}")).expect("a file");
                fs::rename(&theirs, &ground.file).expect("renamed");
                std::thread::yield_now();
            }
        });
        for number in 0..ROUNDS {
            let known = ground.on_disk();
            let before = fs::metadata(&ground.file).expect("the file");
            let result = ground.save(&format!("ours {number}"), ExpectedContent::Unchanged(known));
            match result {
                // The replaced version is gone under every name: it was the expected one, or one
                // that came and went before.
                Ok(_) => saves += 1,
                Err(error) => assert!(
                    matches!(error.reason, ErrorReason::ChangedOnDisk { .. }),
                    "{error} {before:?}"
                ),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    eprintln!("{saves} of {ROUNDS} saves won the race");
    let left: Vec<_> = ground.names();
    assert!(
        left.iter().all(|name| !name.starts_with(".burin-")),
        "{left:?}"
    );
}

/// The volume of this test distinguishes the spellings, so the found file is given the other one.
#[test]
fn the_name_that_the_volume_stores_is_kept() {
    let ground = Ground::new();
    fs::write(ground.folder.path().join("other"), "other").expect("a file");
    let stored = PathAt::absolute(&ground.file);
    let status = stored.own_status().expect("the file");
    let asked = stored.sibling("FILE");
    let found = ExistingFile {
        stat: asked.stat_of(&status),
        at: asked.clone(),
        status,
    };
    for (reported, wanted) in [
        (Some("file"), &stored),
        (Some("FILE"), &asked),
        (Some("other"), &asked),
        (Some("none"), &asked),
        (None, &asked),
    ] {
        let target = super::stored(&found, reported.map(OsStr::new));
        assert_eq!(target.path(), wanted.path(), "{reported:?}");
    }
}
