//! The files of automations, with all that they include.

use base::AbsPath;
use host::{ContentHash, Files};

use crate::Error;
use crate::definition::{Automation, DefinitionProblem};

/// The folder of automations, below the root of a project.
pub const FOLDER: &str = ".burin/automations";
/// Largest size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of automations in a folder.
const MAX_FILES: usize = 200;

/// The file of an automation as it is on the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct AutomationFile {
    /// Its name without the ending.
    pub name: String,
    /// Its path.
    pub path: AbsPath,
    /// Its text, then the names and texts of the files that the prompt names.
    pub text: String,
    /// The hash of the text; consent is given to it.
    pub mark: String,
    /// The automation, or the problems of the file.
    pub automation: Result<Automation, Vec<DefinitionProblem>>,
}

impl AutomationFile {
    /// Reads the automations of a folder, by name. Files that cannot be read as text have that as
    /// their problem. Blocks on the disk.
    pub fn list(files: &dyn Files, root: &AbsPath) -> Vec<Self> {
        let Ok(listing) = files.list(&root.join(FOLDER)) else {
            return Vec::new();
        };
        let names = listing.entries.iter();
        let names = names.filter_map(|it| it.path.file_name().to_str()?.strip_suffix(".md"));
        let mut names: Vec<&str> = names.filter(|name| is_name(name)).collect();
        names.sort_unstable();
        names.truncate(MAX_FILES);
        let found = names.into_iter();
        found
            .filter_map(|name| Self::read(files, root, name).ok())
            .collect()
    }

    /// Reads one automation. Fails if there is no such file. Blocks on the disk.
    pub fn read(files: &dyn Files, root: &AbsPath, name: &str) -> Result<Self, Error> {
        let path = root.join(FOLDER).join(format!("{name}.md"));
        if !is_name(name) {
            return Err(Error::Unknown(name.to_owned()));
        }
        let bytes = files.read(&path, MAX_FILE_BYTES).map_err(|error| {
            if error.is_not_found() {
                Error::Unknown(name.to_owned())
            } else {
                error.into()
            }
        })?;
        let (mut text, automation) = match String::from_utf8(bytes) {
            Ok(text) => {
                let automation = Automation::parse(name, &text);
                (text, automation)
            }
            Err(_) => {
                let problem = DefinitionProblem::at(1, "the file is not UTF-8 text");
                (String::new(), Err(vec![problem]))
            }
        };
        if let Ok(automation) = &automation {
            for include in includes(&automation.prompt) {
                text.push_str(&included(files, root, &include));
            }
        }
        let mark = format!("{:032x}", ContentHash::of(text.as_bytes()).0);
        Ok(Self {
            name: name.to_owned(),
            path,
            text,
            mark,
            automation,
        })
    }
}

/// Returns whether a name is one of a file in the folder itself.
fn is_name(name: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ' ');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
}

/// The files that a prompt names with `@`, in order, each once.
fn includes(prompt: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut before = ' ';
    for (at, it) in prompt.char_indices() {
        if it == '@' && !before.is_alphanumeric() {
            let name = mentioned(&prompt[at + 1..]);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        before = it;
    }
    names
}

/// The name at the start of the text after an `@`, without line numbers and punctuation.
fn mentioned(text: &str) -> String {
    let word = match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => text.split_whitespace().next().unwrap_or_default(),
    };
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let is_lines = |it: &str| it.chars().all(|it| it.is_ascii_digit() || it == '-');
    match word.rsplit_once(':') {
        Some((path, lines)) if is_lines(lines) => path.to_owned(),
        _ => word.to_owned(),
    }
}

/// The name and the text of an included file; empty if the name is none of a file in the project.
fn included(files: &dyn Files, root: &AbsPath, name: &str) -> String {
    let is_inside = !name.split('/').any(|part| part == "..") && !name.starts_with('/');
    let path = root.join(name);
    if !is_inside || files.stat(&path).is_err() {
        return String::new();
    }
    match files.read(&path, MAX_FILE_BYTES) {
        Ok(bytes) => format!("\n--- {name}\n{}", String::from_utf8_lossy(&bytes)),
        // A folder, or a file that is too large: the agent does not get its text either.
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    const TEXT: &str =
        "---\non: { git: commit }\n---\nRead @notes.md:1-3, then @src/ and me@x.org.\n";

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    fn project() -> FakeFiles {
        let files = FakeFiles::new();
        files.folder(&path("/p/.burin/automations"));
        files.write(&path("/p/.burin/automations/check.md"), TEXT);
        files
    }

    #[test]
    fn mark_covers_the_file_and_its_includes() {
        let files = project();
        let read = || AutomationFile::read(&files, &path("/p"), "check").expect("there");
        let alone = read();
        assert_eq!(alone.text, TEXT);
        files.write(&path("/p/notes.md"), "first");
        let with_notes = read();
        assert!(with_notes.text.ends_with("\n--- notes.md\nfirst"));
        files.write(&path("/p/notes.md"), "second");
        let changed = read();
        assert_ne!(alone.mark, with_notes.mark);
        assert_ne!(with_notes.mark, changed.mark);
        files.write(&path("/p/notes.md"), "first");
        assert_eq!(read().mark, with_notes.mark);
    }

    #[test]
    fn mentions_are_names_without_lines_and_punctuation() {
        let prompt = "@a.rs:3 (see @\"my file.txt\") mail@x.org, @b.md. @b.md";
        assert_eq!(includes(prompt), ["a.rs", "my file.txt", "b.md"]);
    }

    #[test]
    fn folder_lists_its_files_by_name() {
        let files = project();
        files.write(&path("/p/.burin/automations/a.md"), "no head");
        files.write(&path("/p/.burin/automations/notes.txt"), "");
        let listed = AutomationFile::list(&files, &path("/p"));
        let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "check"]);
        assert!(listed[0].automation.is_err() && listed[1].automation.is_ok());
        assert!(AutomationFile::list(&files, &path("/q")).is_empty());
        let outside = AutomationFile::read(&files, &path("/p"), "../../notes");
        assert!(matches!(outside, Err(Error::Unknown(_))));
    }
}
