//! Prompt context: the text around the caret, recent edits and excerpts of other files, within a
//! budget.
//!
//! Must not know: how a model wants the context formatted; that is `format`.
//! Invariant: the context costs at most `BUDGET` tokens, counted as three bytes each.
//! Invariant: the text around the caret is paid for first, then edits from the newest, then other
//! files by rank.
//! Start at `gather`.

mod nearby_names;
mod past_edits;
mod source;
mod window;

use base::{AbsPath, Span};

use crate::{EditHistory, EditorState};

pub use nearby_names::names_near;
pub use past_edits::PastEdit;
pub use source::{ContextSnippet, ContextSource, Diagnostic, EmptyContextSource, SnippetReason};
pub use window::{PromptWindow, WindowLimits};

/// Maximum size of a completion prompt, in tokens, estimated from bytes.
pub const BUDGET: usize = 4_096;
/// Bytes that count as one token.
const BYTES_PER_TOKEN: usize = 3;
/// Maximum number of edits in a prompt.
const MAX_EDITS: usize = 10;
/// Maximum number of diagnostics in a prompt.
pub const MAX_DIAGNOSTICS: usize = 5;
/// Maximum length of a line in the list of diagnostics, in bytes.
const MAX_DIAGNOSTIC_LINE: usize = 200;
/// Path under which a prompt lists diagnostics.
const DIAGNOSTICS: &str = "diagnostics";
/// Bytes that an entry costs beside its text: its path and delimiters.
const OVERHEAD: usize = 16;

/// Everything that a completion prompt is built from: the text around the caret, recent edits and
/// excerpts.
#[derive(Clone, Debug, PartialEq)]
pub struct EditContext {
    /// Path of the file as shown to models: relative to the project, with forward slashes.
    pub path: String,
    /// Name of the project folder.
    pub project: String,
    /// Text around the caret.
    pub window: PromptWindow,
    /// Recent edits, the oldest first.
    pub edits: Vec<PastEdit>,
    /// Excerpts of other files, the most relevant first. The first one lists the errors and warnings
    /// near the caret, if there are any, as a file called `diagnostics`; the Zeta variant that was
    /// trained with diagnostics formats them in the same way.
    pub files: Vec<ContextSnippet>,
}

/// Gathers the context of an editor state. Leaves out the less important parts that exceed the
/// token budget. Paths in the context are relative to `root`, the project folder. `frame` is the
/// window size that the model expects. Queries `source` synchronously.
pub fn gather(
    state: &EditorState,
    root: Option<&AbsPath>,
    frame: WindowLimits,
    history: &EditHistory,
    source: &dyn ContextSource,
) -> EditContext {
    let mut budget = ByteBudget(BUDGET * BYTES_PER_TOKEN);
    let mut window = PromptWindow::for_editor(state, frame);
    budget.spend(window.text.len() + OVERHEAD);
    let path = shown_path(state.path.as_ref(), root);
    budget.spend(path.len());
    let edits = edits(history, root, &mut budget);
    window.before = past_edits::region_before(history, state, &window);
    let names = names_near(state);
    let mut files = Vec::from_iter(diagnostics_excerpt(&source.diagnostics(state), state));
    files.extend(source.unmerged(state, &names));
    files.extend(source.definitions(state, &names));
    files.extend(source.snippets(state));
    files.extend(source.viewed(state));
    EditContext {
        files: within(files, &window, &path, &mut budget),
        project: root.map(AbsPath::name).unwrap_or_default(),
        path,
        window,
        edits,
    }
}

/// Formats diagnostics as an excerpt, each with its line of code; `None` if there are none.
fn diagnostics_excerpt(diagnostics: &[Diagnostic], state: &EditorState) -> Option<ContextSnippet> {
    let snapshot = &state.snapshot;
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MAX_DIAGNOSTICS) {
        let kind = if diagnostic.is_error {
            "error"
        } else {
            "warning"
        };
        let row = diagnostic.row.min(snapshot.last_row());
        let span = Span::new(snapshot.row_start(row), snapshot.row_end(row));
        let (message, code) = (&diagnostic.message, snapshot.text(span));
        text.push_str(&format!(
            "{kind} in line {}: {}\n",
            row.0 + 1,
            truncated_line(message)
        ));
        text.push_str(&format!("> {}\n", truncated_line(code.trim())));
    }
    (!text.is_empty()).then(|| ContextSnippet {
        path: DIAGNOSTICS.to_owned(),
        text,
        why: SnippetReason::Diagnostics,
    })
}

/// Returns the first line of a text, truncated to `MAX_DIAGNOSTIC_LINE` bytes.
fn truncated_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(MAX_DIAGNOSTIC_LINE);
    &line[..end]
}

/// Returns a path as shown to models.
fn shown_path(path: Option<&AbsPath>, root: Option<&AbsPath>) -> String {
    let Some(path) = path else {
        return "untitled".to_owned();
    };
    let shown = root.and_then(|root| path.relative_to(root));
    let shown = shown.unwrap_or(path.as_path());
    // A line break in a file name could inject text into the prompt.
    shown.to_string_lossy().replace(['\n', '\r'], " ")
}

/// Returns the newest edits that fit the budget, ordered from the oldest.
fn edits(history: &EditHistory, root: Option<&AbsPath>, budget: &mut ByteBudget) -> Vec<PastEdit> {
    let newest_first = past_edits::newest_first(history, root).take(MAX_EDITS);
    let paid = newest_first.take_while(|edit| budget.pays(edit.diff.len() + edit.path.len()));
    let mut edits: Vec<PastEdit> = paid.collect();
    edits.reverse();
    edits
}

/// Returns the excerpts that fit the budget, in order, without duplicates and without text that the
/// window already shows.
fn within(
    files: Vec<ContextSnippet>,
    window: &PromptWindow,
    path: &str,
    budget: &mut ByteBudget,
) -> Vec<ContextSnippet> {
    let mut kept: Vec<ContextSnippet> = Vec::new();
    for file in files {
        let is_known =
            |known: &ContextSnippet| known.path == file.path && known.text.contains(&file.text);
        let is_here = file.path == path && window.text.contains(file.text.trim());
        if file.text.trim().is_empty() || is_here || kept.iter().any(is_known) {
            continue;
        }
        if budget.pays(file.text.len() + file.path.len() + OVERHEAD) {
            kept.push(file);
        }
    }
    kept
}

/// Remaining bytes of the budget.
struct ByteBudget(usize);

impl ByteBudget {
    fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Deducts `bytes` if the budget covers them, and returns whether it does.
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
