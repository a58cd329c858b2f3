//! Which instructions, rules and skills a project would bring, told before any of them is read.

use base::AbsPath;
use host::{FileKind, Files};

use super::{instructions, skills};

/// Where a project has something to say to agents: files of instructions, and folders of rules and skills that are
/// not empty, relative to the root. Blocks on the disk, and reads none of them.
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
    let texts = instructions::NAMES.iter().copied().filter(is_file);
    let folders = std::iter::once(instructions::RULES).chain(skills::PROJECT_FOLDERS);
    let folders = folders.filter(has_something);
    texts.chain(folders).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    #[test]
    fn what_is_there_is_named_and_empty_folders_are_not() {
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
