//! A fingerprint of the ignore rules of a walk, to detect whether the same folders are still walked
//! the same way.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use base::AbsPath;
use host::{Files, RealFiles};

/// The ignore rules that decide, besides the options, which files a walk visits: rule files and
/// repository markers in, below and above the folder, and the global rules of the user.
pub struct IgnoreRules;

impl IgnoreRules {
    /// File names that affect the rules of their folder.
    pub const NAMES: [&str; 4] = [".gitignore", ".ignore", ".git", ".jj"];

    /// Returns a hash of the content of all ignore rules that affect a walk of `root`; equal hashes
    /// mean the same rules. `folders` are those below `root` that contain some of `NAMES`; the ones
    /// above are found here. Reads the disk, a few microseconds per folder.
    pub fn fingerprint(root: &AbsPath, folders: &mut dyn Iterator<Item = AbsPath>) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash_user_rules(&mut hasher);
        // Folders above are those of the real path, as in the walk.
        let real = RealFiles
            .canonicalize(root)
            .unwrap_or_else(|_| root.clone());
        for folder in real.as_path().ancestors().skip(1) {
            if let Some(folder) = AbsPath::new(folder) {
                hash_folder_rules(&folder, &mut hasher);
            }
        }
        for folder in folders {
            folder.as_path().hash(&mut hasher);
            hash_folder_rules(&folder, &mut hasher);
        }
        hasher.finish()
    }
}

/// A larger file is not a real ignore file.
const MAX_IGNORE_FILE_BYTES: u64 = 16 << 20;

/// Returns the content of a file; `None` if it cannot be read or exceeds `MAX_IGNORE_FILE_BYTES`.
fn content(path: &AbsPath) -> Option<Vec<u8>> {
    RealFiles.read(path, MAX_IGNORE_FILE_BYTES).ok()
}

fn hash_user_rules(hasher: &mut DefaultHasher) {
    let path = ignore::gitignore::gitconfig_excludes_path();
    let rules = path.and_then(AbsPath::new).and_then(|path| content(&path));
    if rules.as_ref().is_some_and(|rules| !rules.is_empty()) {
        // Rules with a leading slash are relative to the program's current folder.
        std::env::current_dir().ok().hash(hasher);
    }
    rules.hash(hasher);
}

fn hash_folder_rules(folder: &AbsPath, hasher: &mut DefaultHasher) {
    content(&folder.join(".gitignore")).hash(hasher);
    content(&folder.join(".ignore")).hash(hasher);
    RealFiles.exists(&folder.join(".jj")).hash(hasher);
    let git = folder.join(".git");
    match RealFiles.stat(&git) {
        Err(_) => false.hash(hasher),
        Ok(stat) if stat.kind == host::FileKind::File => hash_repository_rules(&git, hasher),
        Ok(_) => {
            true.hash(hasher);
            content(&git.join("info/exclude")).hash(hasher);
        }
    }
}

/// Hashes the rules of a worktree, which are stored in its main repository.
fn hash_repository_rules(git: &AbsPath, hasher: &mut DefaultHasher) {
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
