//! What a folder has to say about agents' work in it, and whether the person lets it: instructions, rules and
//! skills join prompts where the folder is trusted, hooks run where exactly they were consented to.
//!
//! Invariant: what cannot be read is not trusted.

use std::sync::Arc;

use agent::context::{Trust, guides};
use agent::hooks::{self, Hooks, RealHooks};
use base::AbsPath;
use host::{Dirs, Files, RealFiles};
use serde_json::{Value, json};

/// What a folder has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HouseRules {
    /// Its files and folders of instructions, rules and skills, relative to it.
    pub guides: Vec<String>,
    /// Whether the person trusts the folder: without, none of them is read.
    pub is_trusted: bool,
    /// Its hooks that wait for the person's consent, by file.
    pub hooks: Vec<WaitingHooks>,
}

/// Hooks that run only once the person consented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingHooks {
    /// Their file.
    pub path: AbsPath,
    /// The commands that they would run.
    pub commands: Vec<String>,
}

/// The largest list of trusted folders that is read, in bytes.
const MOST: u64 = 1 << 20;

/// What a folder has to say. Blocks on the disk.
pub(crate) fn look(dirs: &Dirs, root: &AbsPath) -> HouseRules {
    let waiting = hooks::find(&RealFiles, &dirs.state, root).into_iter();
    let waiting = waiting.filter(|file| !file.has_consent && !file.hooks.is_empty());
    HouseRules {
        guides: guides(&RealFiles, root),
        is_trusted: is_trusted(&RealFiles, dirs, root),
        hooks: waiting
            .map(|file| WaitingHooks {
                path: file.path,
                commands: file
                    .hooks
                    .iter()
                    .map(|hook| hook.command().to_owned())
                    .collect(),
            })
            .collect(),
    }
}

/// Whom the person trusts, as it stands whenever somebody asks.
pub(crate) fn trust(dirs: &Dirs) -> Trust {
    let dirs = dirs.clone();
    Trust::new(move |root| is_trusted(&RealFiles, &dirs, root))
}

/// Lets the hooks of a folder run, as they are now. Blocks on the disk.
pub(crate) fn consent_to_hooks(dirs: &Dirs, root: &AbsPath) -> Result<(), String> {
    for file in hooks::find(&RealFiles, &dirs.state, root) {
        if !file.has_consent {
            hooks::consent::give(&RealFiles, &dirs.state, root, &file.text)
                .map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// The hooks that may run in a folder. Blocks on the disk.
pub(crate) fn hooks_of(dirs: &Dirs, root: &AbsPath) -> Option<Arc<Hooks>> {
    let files = hooks::find(&RealFiles, &dirs.state, root).into_iter();
    let allowed = files.filter(|file| file.has_consent);
    let all: Vec<_> = allowed.flat_map(|file| file.hooks).collect();
    (!all.is_empty()).then(|| Arc::new(Hooks::new(all, Arc::new(RealHooks))))
}

/// Whether the person trusts a folder, or one above it.
pub(crate) fn is_trusted(files: &dyn Files, dirs: &Dirs, root: &AbsPath) -> bool {
    let known = read(files, dirs).unwrap_or_default();
    let mut known = known.iter().filter_map(AbsPath::new);
    known.any(|folder| root.is_within(&folder))
}

/// Writes down whether the person trusts a folder. Blocks on the disk.
///
/// # Errors
/// A sentence where the list cannot be read or written; it is left alone then.
pub(crate) fn set_trusted(
    files: &dyn Files,
    dirs: &Dirs,
    root: &AbsPath,
    is_trusted: bool,
) -> Result<(), String> {
    let mut known = read(files, dirs)?;
    let name = root.to_string();
    known.retain(|folder| *folder != name);
    if is_trusted {
        known.push(name);
    }
    let text = format!("{:#}\n", json!({ "folders": known }));
    files
        .write_private(&list(dirs), text.as_bytes())
        .map_err(|error| error.to_string())
}

fn list(dirs: &Dirs) -> AbsPath {
    dirs.state.join("trusted.json")
}

fn read(files: &dyn Files, dirs: &Dirs) -> Result<Vec<String>, String> {
    let path = list(dirs);
    let bytes = match files.read(&path, MOST) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{path}, the list of trusted folders, cannot be read: {error}"))?;
    let folders = value.get("folders").and_then(Value::as_array);
    let folders = folders.into_iter().flatten();
    Ok(folders
        .filter_map(|it| Some(it.as_str()?.to_owned()))
        .collect())
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn trust_is_given_for_a_folder_with_all_below_it_and_taken_back() {
        let (files, dirs) = (FakeFiles::new(), Dirs::below(&path("/burin")));
        files.folder(&dirs.state);
        let check = |root: &str, expected: bool| {
            assert_eq!(is_trusted(&files, &dirs, &path(root)), expected, "{root}");
        };
        check("/p", false);
        set_trusted(&files, &dirs, &path("/p"), true).expect("written");
        check("/p", true);
        check("/p/inner", true);
        check("/pp", false);
        check("/", false);
        set_trusted(&files, &dirs, &path("/p"), false).expect("written");
        check("/p", false);
    }

    #[test]
    fn a_list_that_makes_no_sense_trusts_nobody_and_is_left_alone() {
        let (files, dirs) = (FakeFiles::new(), Dirs::below(&path("/burin")));
        files.folder(&dirs.state);
        files.write(&list(&dirs), "{ folders");
        assert!(!is_trusted(&files, &dirs, &path("/p")));
        let refused = set_trusted(&files, &dirs, &path("/p"), true).expect_err("unreadable");
        assert!(refused.contains("trusted.json"), "{refused}");
        assert_eq!(files.read(&list(&dirs), MOST).expect("there"), b"{ folders");
    }
}
