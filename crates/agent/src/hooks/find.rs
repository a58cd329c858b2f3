//! Discovery of the files that define hooks.

use base::AbsPath;
use host::Files;

use super::{Hook, consent, parse};

/// Maximum size of a hooks file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Locations of hooks files in a project.
const PLACES: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".burin/settings.json",
];

/// A file that defines hooks.
#[derive(Clone, Debug)]
pub struct HookFile {
    /// The path of the file.
    pub path: AbsPath,
    /// The text of the file, to which an approval applies.
    pub text: String,
    /// The hooks the file defines.
    pub hooks: Vec<Hook>,
    /// Entries that could not be parsed, as sentences.
    pub problems: Vec<String>,
    /// Whether the user approved exactly this text.
    pub has_consent: bool,
}

/// Finds the hooks files of a project below `root`, whether or not the user approved them (see
/// `has_consent`). Approvals are stored below `state`. Unreadable files and those without hooks are
/// skipped. Blocks on the disk.
pub fn find(files: &dyn Files, state: &AbsPath, root: &AbsPath) -> Vec<HookFile> {
    let found = PLACES.iter().filter_map(|place| {
        let path = root.join(place);
        let text = String::from_utf8(files.read(&path, MAX_BYTES).ok()?).ok()?;
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
