//! Tests that a status is found by other spellings of a path.

use base::AbsPath;
use host::{Files as _, RealFiles, TempFolder};
use test_support::{Spellings, spelling_count};

use super::{FileStatus, Statuses, read};

/// Creates a repository with a changed and a new file and reads its statuses. `folds` sets whether
/// its configuration treats the volume as one that folds names.
fn statuses(folds: bool) -> (TempFolder, AbsPath, Statuses) {
    let folder = TempFolder::new().expect("a folder");
    let root = folder.path().clone();
    let repository = git2::Repository::init(root.as_path()).expect("a repository");
    let mut config = repository.config().expect("a config");
    for name in ["core.ignorecase", "core.precomposeunicode"] {
        config.set_bool(name, folds).expect("a setting");
    }
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        let folder = path.parent().expect("a folder");
        RealFiles.create_folder(&folder).expect("a folder");
        RealFiles
            .write_private(&path, text.as_bytes())
            .expect("a file");
    };
    write("Src/Strasse/Kiosk.txt", "one");
    let mut index = repository.index().expect("an index");
    index
        .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
        .expect("added");
    let tree = index.write_tree().expect("a tree");
    index.write().expect("written");
    let tree = repository.find_tree(tree).expect("a tree");
    let author = git2::Signature::now("Ada", "ada@example.org").expect("a signature");
    let commit = repository.commit(Some("HEAD"), &author, &author, "one", &tree, &[]);
    commit.expect("a commit");
    write("Src/Strasse/Kiosk.txt", "another");
    write("Src/First/New.txt", "");
    let statuses = read(&repository, &root).expect("statuses");
    (folder, root, statuses)
}

#[test]
fn a_status_is_found_by_every_spelling_that_the_volume_takes() {
    let (_folder, root, statuses) = statuses(true);
    let mut spellings = Spellings::new(21);
    for _ in 0..spelling_count(300) {
        for (path, expected) in [
            ("src/strasse/kiosk.txt", Some(FileStatus::Modified)),
            ("src/strasse", Some(FileStatus::Modified)),
            ("src/first/new.txt", Some(FileStatus::Untracked)),
            ("src/other.txt", None),
        ] {
            let spelled = root.join(spellings.of(path));
            assert_eq!(statuses.of(&spelled), expected, "{spelled}");
        }
    }
    let stored = root.join("Src/Strasse/Kiosk.txt");
    let mut files = statuses.files();
    assert!(files.any(|file| file == (&stored, FileStatus::Modified)));
}

#[test]
fn spellings_are_different_files_elsewhere() {
    let (_folder, root, statuses) = statuses(false);
    let of = |path: &str| statuses.of(&root.join(path));
    assert_eq!(of("Src/Strasse/Kiosk.txt"), Some(FileStatus::Modified));
    assert_eq!(of("src/strasse/kiosk.txt"), None);
}
