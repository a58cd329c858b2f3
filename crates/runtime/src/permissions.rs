//! The user's permissions file, `permissions.json` in the config folder: rules for calls, and the
//! sandbox settings.
//!
//! ```json
//! { // Comments and trailing commas are allowed.
//!   "permissions": { "allow": ["Bash(cargo test:*)"], "deny": ["Bash(rm:*)"] },
//!   "projects": { "/home/me/project": { "allow": ["Bash(npm run build:*)"] } },
//!   "sandbox": { "off": false, "policy": { "hosts": [{ "host": "*.crates.io" }] } } }
//! ```
//!
//! Invariant: every use of the file reads it here.
//! Invariant: an invalid file gives no permission and is never written.

mod kept_rules;

use agent::rules::PermissionRules;
use base::AbsPath;
use host::{Dirs, Files as _, RealFiles};
use serde_json::Value;
use settings::{EditError, Jsonc};

use crate::Error;

pub use kept_rules::{add_rule, remove_grant, remove_rule};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The contents of the file.
pub struct Permissions {
    path: AbsPath,
    /// The parsed file, or the error of reading or parsing it.
    file: Result<Jsonc, Error>,
}

/// The projects to which a saved rule applies: all, or the one with this root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PermissionScope {
    Everywhere,
    Project(AbsPath),
}

impl Permissions {
    /// Reads the file; a missing file has no rules.
    pub fn read(dirs: &Dirs) -> Self {
        let path = path(dirs);
        let file = text(&path).and_then(|text| {
            Jsonc::parse(&path.to_string(), &text)
                .map_err(|problem| Error::InvalidFile(problem.to_string()))
        });
        Self { path, file }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &AbsPath {
        &self.path
    }

    /// Returns the value of a top-level key; `None` if the key is missing or the file is invalid.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.file.as_ref().ok()?.value().get(key).cloned()
    }

    /// Fails if the file cannot be read or parsed.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.file {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::InvalidFile(with_advice(&error.to_string()))),
        }
    }

    /// Returns a sentence about the value at `path` that names the file and the position.
    pub(crate) fn problem(&self, path: &[&str], message: &str) -> String {
        match &self.file {
            Ok(file) => file.problem(path, message).to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Returns the rules of a project, with sentences about errors in the file. While there are
    /// any, every call needs permission.
    pub fn rules(&self, project: &AbsPath) -> (PermissionRules, Vec<String>) {
        let file = match &self.file {
            Ok(file) => file,
            Err(error) => {
                let rules = PermissionRules::default().closed(format!(
                    "the permissions cannot be read, so every call needs permission: {error}"
                ));
                return (rules, vec![with_advice(&error.to_string())]);
            }
        };
        let names = RealFiles.name_rules(project);
        let (rules, problems) = PermissionRules::of(&file.value(), &project.to_string(), names);
        let problems = problems.into_iter().map(|problem| {
            let path: Vec<&str> = problem.path.iter().map(String::as_str).collect();
            let sentence = file.problem(&path, problem.message).to_string();
            if problem.closes {
                with_advice(&sentence)
            } else {
                sentence
            }
        });
        (rules, problems.collect())
    }
}

/// Appends the consequence of a permissions problem to its sentence.
pub(crate) fn with_advice(sentence: &str) -> String {
    format!("{sentence}; until this is fixed, every call of an agent needs permission")
}

/// Returns the path of the file, whether or not it exists.
pub(crate) fn path(dirs: &Dirs) -> AbsPath {
    dirs.config.join("permissions.json")
}

/// Adds strings to the list at the key path `list` in the file. Creates the file and the list if
/// necessary. Keeps comments and all other content. Blocks on the disk.
///
/// # Errors
/// If the file does not parse, which is then left unchanged, or cannot be written.
pub(crate) fn add(path: &AbsPath, list: &[&str], more: &[String]) -> Result<(), Error> {
    let text = read_valid_text(path)?;
    let changed =
        settings::add_to_list(&text, list, more).map_err(|error| unchanged(path, &error))?;
    write(path, &changed)
}

/// Removes a string from a list in the file. Returns false if the list does not have it.
///
/// # Errors
/// As `add`.
pub(crate) fn remove(path: &AbsPath, list: &[&str], value: &str) -> Result<bool, Error> {
    let text = read_valid_text(path)?;
    let changed = settings::remove_from_list(&text, list, value);
    match changed.map_err(|error| unchanged(path, &error))? {
        None => Ok(false),
        Some(changed) => write(path, &changed).map(|()| true),
    }
}

/// Saves rules that allow calls, in the part of the file for `scope`. Blocks on the disk.
///
/// # Errors
/// The same as those of `add`.
pub(crate) fn save_allow_rules(
    path: &AbsPath,
    scope: &PermissionScope,
    rules: &[String],
) -> Result<(), Error> {
    match scope {
        PermissionScope::Everywhere => add(path, &["permissions", "allow"], rules),
        PermissionScope::Project(root) => {
            add(path, &["projects", &root.to_string(), "allow"], rules)
        }
    }
}

/// Returns the text of the file, which must parse.
fn read_valid_text(path: &AbsPath) -> Result<String, Error> {
    let text = text(path)?;
    match Jsonc::parse(&path.to_string(), &text) {
        Ok(_) => Ok(text),
        Err(problem) => Err(Error::InvalidFile(format!(
            "{problem}; nothing was written to the file"
        ))),
    }
}

fn unchanged(path: &AbsPath, error: &EditError) -> Error {
    let why = match error {
        EditError::Syntax(why) => why.clone(),
        EditError::NotAnObject(what) => format!("{what} is not an object"),
        EditError::NotAList(what) => format!("{what} is not a list"),
    };
    Error::InvalidFile(format!("{path}: {why}; nothing was written to the file"))
}

/// Reads the permissions file. Returns an empty text if it is missing, and an error if it cannot be
/// read, is longer than `LARGEST` bytes, or is not UTF-8.
fn text(path: &AbsPath) -> Result<String, Error> {
    match RealFiles.read(path, LARGEST) {
        Ok(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| Error::InvalidFile(format!("{path} is not UTF-8 text"))),
        Err(error) if error.is_not_found() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

/// Writes the permissions file, readable only by the user, and creates its folder. Returns an error
/// if that fails.
fn write(path: &AbsPath, text: &str) -> Result<(), Error> {
    // A symbolic link stays: its target is written.
    let real = RealFiles
        .canonicalize(path)
        .unwrap_or_else(|_| path.clone());
    if let Some(folder) = real.parent() {
        RealFiles.create_folder(&folder)?;
    }
    RealFiles.write_private(&real, text.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests;
