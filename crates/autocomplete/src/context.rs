//! What goes into a prompt: the text around the caret, recent edits, and pieces of other files, within a budget.
//!
//! Must not know: how a model wants it written down; that is `format`.
//! Invariant: what is gathered costs at most `BUDGET` tokens, counted as three bytes each.
//! Invariant: the caret's own surroundings are paid first, then edits from the newest, then other files by rank.
//! Start at `gather`.

mod source;
mod trail;
mod window;
mod words;

use base::AbsPath;

use crate::Scene;

pub use source::{ContextSource, Diagnostic, Excerpt, NoSource, Why};
pub use trail::{EditTrail, PastEdit};
pub use window::{Frame, Window};
pub use words::names_near;

/// What a prompt may cost, in tokens.
pub const BUDGET: usize = 4_096;
/// How many bytes count as a token.
const BYTES_PER_TOKEN: usize = 3;
/// The most edits that are told.
const MOST_EDITS: usize = 10;
/// What a part costs beside its text, in bytes: its path, its marks.
const OVERHEAD: usize = 16;

/// All that a prompt is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The file's path as models see it: relative to the project, with forward slashes.
    pub path: String,
    /// What the project is called.
    pub project: String,
    /// The text around the caret.
    pub window: Window,
    /// Recent edits, the oldest first.
    pub edits: Vec<PastEdit>,
    /// Pieces of other files, the most helpful first.
    pub files: Vec<Excerpt>,
    /// What is wrong near the caret.
    pub diagnostics: Vec<Diagnostic>,
}

/// Gathers what a prompt for a scene is made of. `root` is the project's folder; paths are told below it.
pub fn gather(
    scene: &Scene,
    root: Option<&AbsPath>,
    frame: Frame,
    trail: &EditTrail,
    source: &dyn ContextSource,
) -> Context {
    let mut purse = Purse(BUDGET * BYTES_PER_TOKEN);
    let mut window = Window::around(scene, frame);
    purse.spend(window.text.len() + OVERHEAD);
    let path = shown_path(scene.path.as_ref(), root);
    purse.spend(path.len());
    let edits = edits(trail, root, &mut purse);
    window.before = trail.before(scene, &window);
    let names = names_near(scene);
    let mut files = source.unmerged(scene, &names);
    files.extend(source.definitions(scene, &names));
    files.extend(source.snippets(scene));
    files.extend(source.viewed(scene));
    let mut diagnostics = source.diagnostics(scene);
    diagnostics.retain(|it| purse.pays(it.message.len() + OVERHEAD));
    Context {
        files: within(files, &window, &path, &mut purse),
        project: root.map(AbsPath::name).unwrap_or_default(),
        path,
        window,
        edits,
        diagnostics,
    }
}

/// A path as models see it.
fn shown_path(path: Option<&AbsPath>, root: Option<&AbsPath>) -> String {
    let Some(path) = path else {
        return "untitled".to_owned();
    };
    let shown = root.and_then(|root| path.relative_to(root));
    let shown = shown.unwrap_or(path.as_path());
    // A line break in a name would let it speak for itself in a prompt.
    shown.to_string_lossy().replace(['\n', '\r'], " ")
}

/// The newest edits that the purse pays for, the oldest of them first.
fn edits(trail: &EditTrail, root: Option<&AbsPath>, purse: &mut Purse) -> Vec<PastEdit> {
    let newest_first = trail.newest_first(root).take(MOST_EDITS);
    let paid = newest_first.take_while(|edit| purse.pays(edit.diff.len() + edit.path.len()));
    let mut edits: Vec<PastEdit> = paid.collect();
    edits.reverse();
    edits
}

/// The pieces that the purse pays for, in their order; nothing twice, and nothing that the window shows.
fn within(files: Vec<Excerpt>, window: &Window, path: &str, purse: &mut Purse) -> Vec<Excerpt> {
    let mut kept: Vec<Excerpt> = Vec::new();
    for file in files {
        let is_known = |known: &Excerpt| known.path == file.path && known.text.contains(&file.text);
        let is_here = file.path == path && window.text.contains(file.text.trim());
        if file.text.trim().is_empty() || is_here || kept.iter().any(is_known) {
            continue;
        }
        if purse.pays(file.text.len() + file.path.len() + OVERHEAD) {
            kept.push(file);
        }
    }
    kept
}

/// The bytes that are left to spend.
struct Purse(usize);

impl Purse {
    fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Pays for something, if it can.
    fn pays(&mut self, bytes: usize) -> bool {
        let can = bytes <= self.0;
        if can {
            self.0 -= bytes;
        }
        can
    }
}

#[cfg(test)]
mod tests;
