//! Lists the instructions, rules and skills of a project: their files, and the names for prompts.

use base::AbsPath;
use host::{FileKind, Files};
use serde::{Deserialize, Serialize};

use super::instructions::{InstructionLimits, Instructions};
use super::skills::Skills;
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

/// A rule or a skill that a prompt can name after `@`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedContext {
    /// Name of the rule or the skill.
    pub name: String,
    /// Its purpose, in a few words.
    pub about: String,
    /// Whether it is a skill.
    pub is_skill: bool,
}

/// The context size for which rules are read, in tokens. Their names do not depend on it.
const ANY_CONTEXT: u64 = 1_000_000;

/// Returns the rules and skills that a prompt in the folder `root` can name: the user's in
/// `config`, and those of the folder if it is trusted. Blocks on the disk.
pub fn named_context(
    files: &dyn Files,
    root: &AbsPath,
    is_trusted: bool,
    config: &AbsPath,
) -> Vec<NamedContext> {
    let limits = InstructionLimits::of(ANY_CONTEXT);
    let rules = Instructions::find(files, root, is_trusted, Some(config), limits).rules;
    let rules = rules.into_iter().map(|rule| NamedContext {
        about: format!("rule in {}", rule.path),
        name: rule.name,
        is_skill: false,
    });
    let skills = Skills::find(files, root, is_trusted, Some(config)).skills;
    let skills = skills.into_iter().map(|skill| NamedContext {
        name: skill.name,
        about: skill.description,
        is_skill: true,
    });
    rules.chain(skills).collect()
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
