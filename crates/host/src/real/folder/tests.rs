//! Tests that require real folders.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::files::Files;
use crate::real::RealFiles;
use crate::reexec::{is_reexec, reexec_test};
use crate::temp::TempFolder;

#[test]
fn trash_uses_the_desktop_trash() {
    const THIS: &str = "real::folder::tests::trash_uses_the_desktop_trash";
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
