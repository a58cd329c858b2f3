//! Skills: folders with a `SKILL.md` that describes how to do a task.
//!
//! Three levels: the system prompt lists names and descriptions, the model reads the body when it
//! uses the skill, and other files of the folder when the body refers to them.

use base::AbsPath;
use host::{FileKind, Files};

use super::front_matter::{FrontMatter, FrontMatterField};
use super::reading::read_inside;
use crate::error::{Error, SkillDefect};

/// The skills found. Of two with the same name, the nearest one wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// Sorted by name, without duplicates.
    pub skills: Vec<Skill>,
    /// Messages about skills that were skipped, with the reason.
    pub problems: Vec<String>,
}

/// A skill and its metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// 1 to 64 of `a`–`z`, `0`–`9` and single `-`; equal to the name of its folder.
    pub name: String,
    /// Purpose, and when to use it; at most 1024 characters.
    pub description: String,
    /// Folder of the skill.
    pub folder: AbsPath,
    /// The skills folder that contains it; nothing outside it is read.
    pub home: AbsPath,
    /// Tools that it asks to use without permission. Only shown to the user: the permission rules
    /// decide.
    pub allowed_tools: Vec<String>,
    /// Requirements on the environment.
    pub compatibility: Option<String>,
    /// License of the skill.
    pub license: Option<String>,
}

/// A project's skill folders, in order of precedence.
pub(super) const PROJECT_FOLDERS: [&str; 3] = [".burin/skills", ".agents/skills", ".claude/skills"];
/// Maximum number of skills listed.
const MAX_LISTED: usize = 100;

impl Skills {
    /// Finds skills: the project's if it is trusted, then the user's in Burin's settings folder
    /// `config`. Of two with the same name the first found wins. Blocks on the disk.
    pub fn find(
        files: &dyn Files,
        root: &AbsPath,
        is_trusted: bool,
        config: Option<&AbsPath>,
    ) -> Self {
        let mut found = Self::default();
        if is_trusted {
            for folder in PROJECT_FOLDERS {
                found.scan_folder(files, &root.join(folder), root);
            }
        }
        if let Some(config) = config {
            let home = config.join("skills");
            found.scan_folder(files, &home, config);
        }
        found.skills.sort_by(|one, two| one.name.cmp(&two.name));
        found
    }

    /// Returns the skill with exactly this name.
    pub fn named(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Returns the list for the system prompt, which tells the model to read a skill with `tool`;
    /// `None` if there are no skills. The number of listed skills is limited.
    pub fn list(&self, tool: &str) -> Option<String> {
        if self.skills.is_empty() {
            return None;
        }
        let mut text = format!(
            "# Skills\nInstructions for certain tasks in this project. When a task matches a description, read the skill with `{tool}` first and follow it.\n"
        );
        for skill in self.skills.iter().take(MAX_LISTED) {
            let description = skill.description.replace('\n', " ");
            text.push_str(&format!("- {}: {description}\n", skill.name));
        }
        if let Some(more @ 1..) = self.skills.len().checked_sub(MAX_LISTED) {
            text.push_str(&format!(
                "- and {more} more, which can be requested by name\n"
            ));
        }
        Some(text)
    }

    fn scan_folder(&mut self, files: &dyn Files, home: &AbsPath, fence: &AbsPath) {
        let Ok(listing) = files.list(home) else {
            // Most projects have no such folder.
            return;
        };
        for entry in listing.entries {
            if entry.kind != FileKind::Folder {
                continue;
            }
            match read_skill(files, &entry.path, home, fence) {
                Ok(None) => {}
                Ok(Some(skill)) => match self.named(&skill.name) {
                    None => self.skills.push(skill),
                    Some(nearer) => self.problems.push(format!(
                        "the skill {} in {} is hidden by the one in {}",
                        skill.name, skill.folder, nearer.folder
                    )),
                },
                Err(error) => self.problems.push(error.to_string()),
            }
        }
    }
}

impl Skill {
    /// Reads the skill's text after the front matter. Blocks on the disk. Fails with
    /// `Error::FileGone` if `SKILL.md` was removed since.
    pub fn body(&self, files: &dyn Files) -> Result<String, Error> {
        let path = self.folder.join("SKILL.md");
        match read_inside(files, &path, &self.home)? {
            Some(text) => Ok(FrontMatter::split(&text.text).1.trim_start().to_owned()),
            None => Err(Error::FileGone(path)),
        }
    }

    /// Returns the other files in its folder, relative to it, at most 200; links and dot files are
    /// skipped.
    pub fn files(&self, files: &dyn Files) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.folder.clone()];
        while let Some(folder) = open.pop() {
            let Ok(listing) = files.list(&folder) else {
                continue;
            };
            for entry in listing.entries {
                if entry.is_link || entry.path.name().starts_with('.') || found.len() >= 200 {
                    continue;
                }
                let relative = entry.path.relative_to(&self.folder);
                let name = relative.map(|path| path.to_string_lossy().into_owned());
                match (entry.kind, name) {
                    (FileKind::Folder, _) => open.push(entry.path.clone()),
                    (FileKind::File, Some(name)) if name != "SKILL.md" => found.push(name),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}

/// Reads and validates the `SKILL.md` in `folder`; `Ok(None)` if there is no such file. Fails if it
/// is unreadable or invalid, or lies outside `fence` once links are followed. `home` becomes the
/// fence for later reads of the skill.
fn read_skill(
    files: &dyn Files,
    folder: &AbsPath,
    home: &AbsPath,
    fence: &AbsPath,
) -> Result<Option<Skill>, Error> {
    let path = folder.join("SKILL.md");
    let Some(text) = read_inside(files, &path, fence)? else {
        return Ok(None);
    };
    let (front, _) = FrontMatter::split(&text.text);
    let skill = check(&front, folder, home);
    skill
        .map(Some)
        .map_err(|defect| Error::InvalidSkill { path, defect })
}

/// Validates a skill against the format's rules.
fn check(front: &FrontMatter, folder: &AbsPath, home: &AbsPath) -> Result<Skill, SkillDefect> {
    let name = front.text("name").unwrap_or_default();
    check_name(&name)?;
    if name != folder.name() {
        return Err(SkillDefect::NameDiffers {
            name,
            folder: folder.name(),
        });
    }
    let description = front.text("description").unwrap_or_default();
    let letters = description.chars().count();
    if description.trim().is_empty() {
        return Err(SkillDefect::NoDescription);
    }
    if letters > 1024 {
        return Err(SkillDefect::LongDescription(letters));
    }
    let compatibility = front.text("compatibility");
    if let Some(text) = &compatibility
        && text.chars().count() > 500
    {
        return Err(SkillDefect::LongCompatibility);
    }
    let is_map = |field: &FrontMatterField| {
        matches!(field, FrontMatterField::Map(_))
            || matches!(field, FrontMatterField::Text(text) if text.is_empty())
    };
    if front.field("metadata").is_some_and(|field| !is_map(field)) {
        return Err(SkillDefect::InvalidMetadata);
    }
    let allowed_tools = match front.field("allowed-tools") {
        // A plain text separates the tools by spaces or commas.
        Some(FrontMatterField::Text(text)) => tools_of(text),
        _ => front.list("allowed-tools"),
    };
    Ok(Skill {
        name,
        description: description.trim().to_owned(),
        folder: folder.clone(),
        home: home.clone(),
        allowed_tools,
        compatibility,
        license: front.text("license"),
    })
}

/// Checks a skill's name: 1 to 64 characters `a` to `z`, `0` to `9` and `-`, with every hyphen
/// between two other characters. Fails with the first defect.
fn check_name(name: &str) -> Result<(), SkillDefect> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    if name.is_empty() {
        return Err(SkillDefect::NoName);
    }
    if name.len() > 64 {
        return Err(SkillDefect::LongName);
    }
    if !name
        .chars()
        .all(|letter| is_letter(letter) || letter == '-')
    {
        return Err(SkillDefect::InvalidName(name.to_owned()));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return Err(SkillDefect::MisplacedHyphen(name.to_owned()));
    }
    Ok(())
}

/// Splits a list of tools: `Bash(git *) Read` are two, since parentheses group.
fn tools_of(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let pieces = text.split(|letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter == ',' || letter.is_whitespace())
    });
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::FakeFiles;

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).unwrap()
    }

    #[test]
    fn invalid_skills_are_skipped_with_a_reason() {
        let check = |folder: &str, front: &str, expected: Result<(), &str>| {
            let files = FakeFiles::new();
            let file = format!("/p/.agents/skills/{folder}/SKILL.md");
            files.write(&path(&file), format!("---\n{front}\n---\nDo it.\n"));
            let found = Skills::find(&files, &path("/p"), true, None);
            match expected {
                Ok(()) => assert_eq!(
                    (found.skills.len(), found.problems.len()),
                    (1, 0),
                    "{found:?}"
                ),
                Err(why) => {
                    assert!(found.skills.is_empty(), "{found:?}");
                    assert!(found.problems[0].contains(why), "{found:?}");
                }
            }
        };
        check("pdf", "name: pdf\ndescription: Reads PDFs.", Ok(()));
        check(
            "a-1",
            "name: a-1\ndescription: x\nallowed-tools: Read Bash(git *)",
            Ok(()),
        );
        check(
            "a",
            "name: a\ndescription: x\nallowed-tools: [Read, Grep]\nmetadata:\n  v: 1",
            Ok(()),
        );
        check(
            "a",
            "name: a\ndescription: x\nmetadata: text",
            Err("metadata"),
        );
        check("a", "description: x", Err("no name"));
        check("a", "name: a", Err("no description"));
        check(
            "a",
            "name: b\ndescription: x",
            Err("its folder is called a"),
        );
        check("A", "name: A\ndescription: x", Err("other than a to z"));
        check(
            "a--b",
            "name: a--b\ndescription: x",
            Err("between two other characters"),
        );
        check(
            "-a",
            "name: -a\ndescription: x",
            Err("between two other characters"),
        );
        let long = "x".repeat(65);
        check(&long, &format!("name: {long}\ndescription: x"), Err("64"));
        check(
            "a",
            &format!("name: a\ndescription: {}", "x".repeat(1025)),
            Err("1024"),
        );
        let compatibility = "x".repeat(501);
        check(
            "a",
            &format!("name: a\ndescription: x\ncompatibility: {compatibility}"),
            Err("500"),
        );
    }

    #[test]
    fn nearest_skill_wins_and_untrusted_ones_are_skipped() {
        let files = FakeFiles::new();
        let skill = |at: &str, description: &str| {
            let text = format!("---\nname: x\ndescription: {description}\n---\nBody.\n");
            files.write(&path(&format!("{at}/x/SKILL.md")), text);
        };
        skill("/p/.claude/skills", "claude");
        skill("/p/.agents/skills", "agents");
        skill("/c/skills", "person");
        let find =
            |is_trusted: bool| Skills::find(&files, &path("/p"), is_trusted, Some(&path("/c")));
        let trusted = find(true);
        assert_eq!(trusted.skills[0].description, "agents");
        assert_eq!(trusted.problems.len(), 2);
        let untrusted = find(false);
        assert_eq!(untrusted.skills[0].description, "person");
        assert_eq!(untrusted.problems, Vec::<String>::new());
        assert_eq!(trusted.skills[0].body(&files).unwrap(), "Body.\n");
        let list = trusted.list("skill").unwrap();
        assert!(list.ends_with("- x: agents\n"), "{list}");
        assert_eq!(Skills::default().list("skill"), None);
    }

    #[test]
    fn allowed_tools_keep_parenthesised_patterns() {
        assert_eq!(
            tools_of("Bash(git *) Read,Grep"),
            ["Bash(git *)", "Read", "Grep"]
        );
        assert_eq!(tools_of(""), Vec::<String>::new());
    }
}
