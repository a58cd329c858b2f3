//! The rules of a walk as something to compare: whether the same folders would still be walked the same way.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use base::AbsPath;
use host::{Files, RealFiles};

/// What decides, beside the options of a walk, which files of a folder it visits: files with rules, and what makes a
/// folder a repository, in the folder, below it and above it; and the rules of the person who is logged in.
pub struct Rules;

impl Rules {
    /// Names that make a folder matter for the rules.
    pub const NAMES: [&str; 4] = [".gitignore", ".ignore", ".git", ".jj"];

    /// A number that another set of rules hardly shares. `folders` are those below `root` in which some of `NAMES`
    /// stand; of the ones above it this looks itself. A few microseconds a folder.
    pub fn fingerprint(root: &AbsPath, folders: &mut dyn Iterator<Item = AbsPath>) -> u64 {
        let mut hasher = DefaultHasher::new();
        personal(&mut hasher);
        // Folders above are those of the place that links lead to, as the walk has it.
        let real = RealFiles
            .canonicalize(root)
            .unwrap_or_else(|_| root.clone());
        for folder in real.as_path().ancestors().skip(1) {
            if let Some(folder) = AbsPath::new(folder) {
                of_folder(&folder, &mut hasher);
            }
        }
        for folder in folders {
            folder.as_path().hash(&mut hasher);
            of_folder(&folder, &mut hasher);
        }
        hasher.finish()
    }
}

/// An ignore file beyond this is not one.
const LIMIT: u64 = 16 << 20;

fn content(path: &AbsPath) -> Option<Vec<u8>> {
    RealFiles.read(path, LIMIT).ok()
}

fn personal(hasher: &mut DefaultHasher) {
    let path = ignore::gitignore::gitconfig_excludes_path();
    let rules = path.and_then(AbsPath::new).and_then(|path| content(&path));
    if rules.as_ref().is_some_and(|rules| !rules.is_empty()) {
        // Rules with a slash in front are taken from the folder the program runs in.
        std::env::current_dir().ok().hash(hasher);
    }
    rules.hash(hasher);
}

fn of_folder(folder: &AbsPath, hasher: &mut DefaultHasher) {
    content(&folder.join(".gitignore")).hash(hasher);
    content(&folder.join(".ignore")).hash(hasher);
    RealFiles.exists(&folder.join(".jj")).hash(hasher);
    let git = folder.join(".git");
    match RealFiles.stat(&git) {
        Err(_) => false.hash(hasher),
        Ok(stat) if stat.kind == host::FileKind::File => linked(&git, hasher),
        Ok(_) => {
            true.hash(hasher);
            content(&git.join("info/exclude")).hash(hasher);
        }
    }
}

/// A worktree, whose rules of its own lie with the repository it was taken from.
fn linked(git: &AbsPath, hasher: &mut DefaultHasher) {
    let first_line = |content: Option<Vec<u8>>| {
        let content = content?;
        let text = String::from_utf8_lossy(&content).into_owned();
        text.lines().next().map(str::to_owned)
    };
    let pointer = first_line(content(git));
    pointer.hash(hasher);
    let inner = pointer
        .as_deref()
        .and_then(|line| line.strip_prefix("gitdir: "));
    let Some(inner) = inner.map(Path::new).and_then(AbsPath::new) else {
        return;
    };
    let common = first_line(content(&inner.join("commondir")));
    common.hash(hasher);
    if let Some(common) = common.map(PathBuf::from) {
        content(&inner.join(common).join("info/exclude")).hash(hasher);
    }
}
