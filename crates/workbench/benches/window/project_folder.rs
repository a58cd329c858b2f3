//! The project of a window on the disk: the sources of this crate in a Git repository, and the file that is edited.

use std::path::Path;
use std::process::Command;

use base::AbsPath;
use host::TempFolder;
use workbench::target::LineColumn;

/// Number of changes of the edited file since its commit.
const CHANGES: usize = 20;

/// The file that is edited.
pub(crate) struct EditedFile<'a> {
    /// Name with the extension of its language.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
    /// Place at which typing begins.
    pub(crate) place: LineColumn,
}

/// A project with the folders of the program.
pub(crate) struct Project {
    _folder: TempFolder,
    pub(crate) root: AbsPath,
    /// Parent of the program's own folders.
    pub(crate) own: AbsPath,
    pub(crate) edited: AbsPath,
    /// Files that are open in other tabs.
    pub(crate) others: Vec<AbsPath>,
}

impl Project {
    /// Makes the project, with changes of the edited file that are not committed.
    pub(crate) fn new(file: &EditedFile<'_>) -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let root = folder.path().join("project");
        let source = root.join("src");
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            source.as_path(),
        );
        let edited = source.join(file.name);
        write(edited.as_path(), &committed(file.text));
        git(root.as_path(), &["init", "--quiet"]);
        git(root.as_path(), &["add", "--all"]);
        git(root.as_path(), &["commit", "--quiet", "--message", "all"]);
        write(edited.as_path(), file.text);
        let others = ["folder.rs", "documents.rs", "windows.rs", "workbench.rs"];
        Self {
            root,
            own: folder.path().join("burin"),
            edited,
            others: others.map(|name| source.join(name)).into(),
            _folder: folder,
        }
    }
}

/// Returns the text as it was committed: without some rows, and with others changed.
pub(crate) fn committed(text: &str) -> String {
    let rows = text.lines().count();
    let step = (rows / CHANGES).max(2);
    let mut before = String::with_capacity(text.len());
    for (ix, line) in text.lines().enumerate() {
        match ix % step {
            1 => continue,
            2 => before.push_str("changed"),
            _ => {}
        }
        before.push_str(line);
        before.push('\n');
    }
    before
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the sources") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file");
}

fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
        .args(["-c", "commit.gpgsign=false", "-c", "gc.auto=0"])
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "git works");
}
