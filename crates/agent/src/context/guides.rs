//! Lists the instructions, rules and skills of a project without reading them.

use base::AbsPath;
use host::{FileKind, Files};

use super::{instructions, skills};

/// Returns the paths, relative to the root, of a project's instruction files and of its non-empty
/// rule and skill folders. Blocks on the disk; reads none of the files.
pub fn guides(files: &dyn Files, root: &AbsPath) -> Vec<String> {
    let is_file = |name: &&str| {
        files
            .stat(&root.join(name))
            .is_ok_and(|stat| stat.kind == FileKind::File)
    };
    let has_something = |name: &&str| {
        files
            .list(&root.join(name))
            .is_ok_and(|listing| !listing.entries.is_empty())
    };
    let texts = instructions::FILE_NAMES.iter().copied().filter(is_file);
    let folders = std::iter::once(instructions::RULES_FOLDER).chain(skills::PROJECT_FOLDERS);
    let folders = folders.filter(has_something);
    texts.chain(folders).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    #[test]
    fn guides_list_existing_files_and_nonempty_folders() {
        let files = FakeFiles::new();
        let root = AbsPath::new("/p").expect("absolute");
        files.folder(&root);
        assert_eq!(guides(&files, &root), [] as [&str; 0]);
        for folder in [
            ".cursor",
            ".cursor/rules",
            ".claude",
            ".claude/skills",
            ".claude/skills/tidy",
        ] {
            files.folder(&root.join(folder));
        }
        files.write(&root.join("CLAUDE.md"), "Be brief.");
        assert_eq!(guides(&files, &root), ["CLAUDE.md", ".claude/skills"]);
    }
}
