//! Tests that require real folders.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;

use base::Platform;
use rustix::fs::Mode;

use super::is_same_entry;
use crate::error::ErrorReason;
use crate::files::Files;
use crate::no_follow;
use crate::path_at::PathAt;
use crate::real::RealFiles;
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;

#[test]
fn trash_uses_the_desktop_trash() {
    const THIS: &str = "real::folder::tests::trash_uses_the_desktop_trash";
    if Platform::CURRENT == Platform::MacOs {
        return test_support::skip("no variable names the trash of macOS, which is the user's own");
    }
    if !is_reexec() {
        let home = TempFolder::new().expect("a temporary folder");
        let path = home.path().to_string();
        let data = home.path().join("data").to_string();
        reexec_test(THIS, &["env"], &[("HOME", &path), ("XDG_DATA_HOME", &data)]);
        return;
    }
    let home = std::env::var("HOME").expect("a home");
    let folder = TempFolder::inside(home.as_ref()).expect("a temporary folder");
    let file = folder.path().join("a file");
    fs::write(&file, "precious").expect("a file");
    RealFiles.trash(&file).expect("trashed");
    assert!(!RealFiles.exists(&file));
    let kept = std::path::Path::new(&home).join("data/Trash/files/a file");
    assert_eq!(fs::read_to_string(kept).expect("in the trash"), "precious");
    assert!(RealFiles.trash(&file).expect_err("gone").is_not_found());
}

#[test]
fn a_deep_folder_is_listed_copied_and_removed() {
    let folder = TempFolder::new().expect("a temporary folder");
    let mut deep = folder.path().join("top");
    for _ in 0..200 {
        deep = deep.join("deeper");
    }
    RealFiles.create_folder(&deep).expect("created");
    fs::write(deep.join("file"), "x").expect("a file");
    assert_eq!(RealFiles.list(&deep).expect("a listing").entries.len(), 1);
    let copy = folder.path().join("copy");
    RealFiles
        .copy(&folder.path().join("top"), &copy)
        .expect("copied");
    RealFiles.remove(&copy).expect("removed");
    assert!(!RealFiles.exists(&copy));
}

#[test]
fn a_folder_deeper_than_the_longest_path_is_removed() {
    let folder = TempFolder::new().expect("a temporary folder");
    let top = folder.path().join("top");
    fs::create_dir(&top).expect("a folder");
    let mut deepest = no_follow::open_root(top.as_path()).expect("a folder");
    let name = "deeper".repeat(40);
    for _ in 0..40 {
        rustix::fs::mkdirat(&deepest, name.as_str(), Mode::RWXU).expect("a folder");
        deepest = no_follow::open_folder(&deepest, name.as_str()).expect("a folder");
    }
    RealFiles.remove(&top).expect("removed");
    assert!(!RealFiles.exists(&top));
}

#[test]
fn listing_an_unreadable_folder_fails_but_not_its_parent() {
    const THIS: &str = "real::folder::tests::listing_an_unreadable_folder_fails_but_not_its_parent";
    let is_root = rustix::process::geteuid().is_root();
    if is_root && !is_reexec() {
        let other = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        reexec_test(THIS, &other, &[]);
        return;
    }
    let folder = TempFolder::new().expect("a temporary folder");
    let secret = folder.path().join("secret");
    fs::create_dir(&secret).expect("a folder");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("a mode");
    let listing = RealFiles.list(folder.path()).expect("a listing");
    assert_eq!((listing.entries.len(), listing.problems.len()), (1, 0));
    let message = RealFiles.list(&secret).expect_err("refused").to_string();
    assert!(message.contains("permission denied"), "{message}");
    // A folder that is readable but not searchable: its entries are listed, their targets are
    // unknown.
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).expect("a mode");
    fs::write(secret.join("file"), "x").expect("a file");
    std::os::unix::fs::symlink("file", secret.join("link")).expect("a link");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o400)).expect("a mode");
    let listing = RealFiles.list(&secret).expect("a listing");
    assert_eq!((listing.entries.len(), listing.problems.len()), (2, 1));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).expect("a mode");
}

#[test]
fn a_second_name_of_a_file_is_no_other_spelling() {
    let folder = TempFolder::new().expect("a temporary folder");
    let (one, two) = (folder.path().join("name"), folder.path().join("other"));
    fs::write(&one, "x").expect("a file");
    fs::hard_link(&one, &two).expect("a second name");
    let error = RealFiles.rename(&one, &two).expect_err("taken");
    assert_eq!(error.reason, ErrorReason::AlreadyExists);
    assert!(RealFiles.exists(&one) && RealFiles.exists(&two));
}

/// On a volume that ignores case, both spellings lead to the same entry.
#[test]
fn another_spelling_of_an_entry_is_not_taken() {
    let folder = TempFolder::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("readme"), "x").expect("a file");
    fs::write(at("other"), "x").expect("a file");
    fs::create_dir(at("sub")).expect("a folder");
    let status = |name: &str| PathAt::absolute(&at(name)).own_status().expect("an entry");
    let (file, other, sub) = (status("readme"), status("other"), status("sub"));
    let asked = Cell::new(0);
    let names = |stored: &[&str]| {
        asked.set(asked.get() + 1);
        Ok(stored.iter().map(OsString::from).collect::<Vec<_>>())
    };
    let new = OsStr::new("README");
    assert!(is_same_entry(&file, &file, new, || names(&["readme"])));
    assert!(is_same_entry(&sub, &sub, new, || names(&["sub"])));
    assert!(!is_same_entry(&file, &other, new, || names(&["readme"])));
    assert_eq!(
        asked.get(),
        0,
        "one link, or a folder: no look at the names"
    );
    fs::hard_link(at("readme"), at("linked")).expect("a second name");
    let file = status("readme");
    assert!(is_same_entry(&file, &file, new, || names(&[
        "readme", "linked"
    ])));
    assert!(!is_same_entry(&file, &file, new, || names(&[
        "readme", "README"
    ])));
}

#[test]
fn a_copy_keeps_modes_and_links_and_leaves_nothing_out() {
    let folder = TempFolder::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("from/closed/deep")).expect("folders");
    fs::write(at("from/closed/deep/run"), "x").expect("a file");
    std::os::unix::fs::symlink("run", at("from/closed/deep/link")).expect("a link");
    let set = |name: &str, mode| {
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set("from/closed/deep/run", 0o751);
    set("from/closed", 0o555);
    RealFiles.copy(&at("from"), &at("to")).expect("copied");
    let mode = |name: &str| {
        fs::symlink_metadata(at(name))
            .expect("an entry")
            .permissions()
            .mode()
    };
    assert_eq!(mode("to/closed/deep/run") & 0o7777, 0o751);
    assert_eq!(mode("to/closed") & 0o7777, 0o555);
    let link = fs::read_link(at("to/closed/deep/link")).expect("a link");
    assert_eq!(link, std::path::Path::new("run"));
    set("from/closed", 0o755);
    set("to/closed", 0o755);
}
