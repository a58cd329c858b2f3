//! Tests of the kernel's change events in a real folder.

use std::fs;
use std::path::Path;

use base::AbsPath;

use super::{ChangeQueue, PolledChange};
use crate::TempFolder;

fn taken(vigil: &ChangeQueue) -> Vec<PolledChange> {
    let mut news = Vec::new();
    vigil.drain(&mut |one| news.push(one));
    news.dedup();
    news
}

fn begun(root: &AbsPath, folders: &[&str]) -> ChangeQueue {
    let mut folders = folders.iter().map(Path::new);
    ChangeQueue::watch(root, &mut folders).expect("folders for tests lie on a disk of this machine")
}

#[test]
fn changes_are_queued_before_the_changing_call_returns() {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path();
    let at = |name: &str| root.join(name).as_path().to_path_buf();
    fs::create_dir(at("src")).expect("a folder");
    fs::write(at("src/a"), "one").expect("a file");
    let vigil = begun(root, &["", "src"]);
    assert!(vigil.is_empty());
    let check = |change: &dyn Fn(), expected: PolledChange| {
        change();
        assert!(!vigil.is_empty(), "{expected:?}");
        let news = taken(&vigil);
        assert!(news.contains(&expected), "{expected:?} is not in {news:?}");
        assert!(vigil.is_empty());
    };
    let changed = || PolledChange::Changed("src/a".into());
    check(&|| fs::write(at("src/a"), "two").expect("write"), changed());
    let old = fs::metadata(at("src/a")).and_then(|found| found.modified());
    let old = old.expect("a time");
    let set = || {
        let file = fs::File::options().append(true).open(at("src/a"));
        file.and_then(|file| file.set_modified(old))
            .expect("a time");
    };
    check(&set, changed());
    check(
        &|| fs::rename(at("src/a"), at("b")).expect("rename"),
        PolledChange::Moved("b".into()),
    );
    check(
        &|| fs::remove_file(at("b")).expect("remove"),
        PolledChange::Moved("b".into()),
    );
    let link = || std::os::unix::fs::symlink("nowhere", at("src/link")).expect("a link");
    check(&link, PolledChange::Moved("src/link".into()));
    check(
        &|| fs::create_dir(at("new")).expect("create"),
        PolledChange::Lost,
    );
    check(
        &|| fs::rename(at("new"), at("old")).expect("rename"),
        PolledChange::Lost,
    );
    check(
        &|| fs::remove_dir_all(at("src")).expect("remove"),
        PolledChange::Lost,
    );
}

#[test]
fn a_queue_overflow_is_reported_as_lost() {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path();
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a number");
    let most: usize = most.trim().parse().expect("a number");
    if most > 100_000 {
        return test_support::skip(format_args!("the queue here holds {most} events"));
    }
    let vigil = begun(root, &[""]);
    let (one, other) = (root.join("one"), root.join("other"));
    fs::write(one.as_path(), "").expect("a file");
    // Consecutive events differ, since the kernel would merge equal ones.
    for _ in 0..=most / 4 {
        fs::rename(one.as_path(), other.as_path()).expect("rename");
        fs::rename(other.as_path(), one.as_path()).expect("rename");
    }
    assert!(taken(&vigil).contains(&PolledChange::Lost));
}

#[test]
fn unwatchable_folders_are_refused() {
    let folder = TempFolder::new().expect("a folder");
    let mut gone = [Path::new("gone")].into_iter();
    assert!(ChangeQueue::watch(folder.path(), &mut gone).is_none());
    let proc = AbsPath::new("/proc").expect("an absolute path");
    let mut top = [Path::new("")].into_iter();
    assert!(ChangeQueue::watch(&proc, &mut top).is_none());
}
