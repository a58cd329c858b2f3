//! The files in which hooks are written down.

use base::AbsPath;
use host::Files;

use super::{Hook, consent, parse};

/// The most bytes of such a file.
const MOST: u64 = 1 << 20;
/// Where they lie in a project.
const PLACES: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".burin/settings.json",
];

/// A file with hooks.
#[derive(Clone, Debug)]
pub struct HookFile {
    /// Where it lies.
    pub path: AbsPath,
    /// Its text: what a consent is for.
    pub text: String,
    /// Its hooks.
    pub hooks: Vec<Hook>,
    /// What cannot be read of them, in sentences.
    pub problems: Vec<String>,
    /// Whether the person let exactly these run.
    pub has_consent: bool,
}

/// The files of a project that hold hooks. Blocks on the disk.
pub fn find(files: &dyn Files, state: &AbsPath, root: &AbsPath) -> Vec<HookFile> {
    let found = PLACES.iter().filter_map(|place| {
        let path = root.join(place);
        let text = String::from_utf8(files.read(&path, MOST).ok()?).ok()?;
        let (hooks, problems) = parse(&text);
        let is_of_interest = !hooks.is_empty() || text.contains("\"hooks\"");
        is_of_interest.then(|| HookFile {
            has_consent: consent::is_given(files, state, root, &text),
            path,
            text,
            hooks,
            problems,
        })
    });
    found.collect()
}
