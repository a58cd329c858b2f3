//! A simulated user whose edits the checks of suggestions know, and suggestions that are passed to these checks.

use std::sync::Arc;
use std::time::Duration;

use autocomplete::validate::{RecentEdits, TypeMembers, check};
use autocomplete::{
    ChangeCause, EditHistory, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource,
};
use base::Span;
use model::ModelId;

use super::hunks::{Hunk, hunks};
use super::keys::{MOST_HUNKS, is_typed};
use super::local_tier::OpenFile;
use replay::ChangedFile;

/// Milliseconds between keystrokes, and between hunks.
const KEY: u64 = 120;
const HUNK: u64 = 60_000;

/// Recent edits of all files of a commit.
pub(super) struct Asker {
    history: EditHistory,
    /// Without and with the names in the text.
    unnamed: RecentEdits,
    named: RecentEdits,
    clock: u64,
}

/// Whether the checks know the names in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Names {
    Known,
    Unknown,
}

impl Asker {
    pub(super) fn new() -> Self {
        Self {
            history: EditHistory::default(),
            unnamed: RecentEdits::default(),
            named: RecentEdits::default(),
            clock: 1_000_000,
        }
    }

    /// Lets the pause between two hunks pass.
    pub(super) fn pause(&mut self) {
        self.clock += HUNK;
    }

    /// Replaces some text in one keystroke.
    pub(super) fn replace(
        &mut self,
        open: &mut OpenFile,
        span: Span,
        new: &str,
        cause: ChangeCause,
    ) {
        self.clock += KEY;
        let edit = open.edit(span, new, self.clock, cause);
        let now = Duration::from_millis(self.clock);
        self.history.record(&edit, now);
        self.unnamed.edited(&edit, &self.history, now);
        self.named.edited(&edit, &self.history, now);
    }

    /// Reads the names in the text, as the window does when the user pauses.
    pub(super) fn read_names(&mut self, open: &OpenFile) {
        if let Some(members) = TypeMembers::of(&open.state()) {
            self.named.set_names(Arc::new(members));
        }
    }

    /// Returns the reason why a suggestion is refused; `None` if it may be shown.
    pub(super) fn refusal(
        &self,
        open: &OpenFile,
        suggestion: &Suggestion,
        names: Names,
    ) -> Option<String> {
        let recent = match names {
            Names::Known => &self.named,
            Names::Unknown => &self.unnamed,
        };
        refusal(open, suggestion, recent)
    }

    /// Returns the reason why a suggestion is refused right after the user rejected it.
    pub(super) fn refusal_of_rejected(
        &self,
        open: &OpenFile,
        suggestion: &Suggestion,
    ) -> Option<String> {
        let mut recent = self.named.clone();
        let now = Duration::from_millis(self.clock);
        recent.rejected(&open.state(), suggestion, now);
        refusal(open, suggestion, &recent)
    }
}

/// Applies the hunks of a commit in order. `type_hunk` applies those that a person types, up to the maximum of a commit.
pub(super) fn each_typed_hunk(
    files: &[ChangedFile],
    mut type_hunk: impl FnMut(&mut Asker, &mut OpenFile, &Hunk),
) {
    let mut asker = Asker::new();
    let mut typed = 0;
    for file in files {
        let mut open = OpenFile::new(file);
        for hunk in hunks(&file.old, &file.new) {
            asker.pause();
            if is_typed(&hunk) && typed < MOST_HUNKS {
                typed += 1;
                type_hunk(&mut asker, &mut open, &hunk);
            } else {
                asker.replace(&mut open, hunk.old, &hunk.new, ChangeCause::Typed);
            }
        }
    }
}

fn refusal(open: &OpenFile, suggestion: &Suggestion, recent: &RecentEdits) -> Option<String> {
    let refused = check(&open.state(), suggestion, recent).err()?;
    let reason = format!("{refused:?}");
    // Without the name in question.
    let end = reason.find(['(', ' ']).unwrap_or(reason.len());
    Some(reason[..end].to_owned())
}

/// Returns the insertion of a text at the caret, as a model suggests it.
pub(super) fn at_caret(open: &OpenFile, text: &str) -> Suggestion {
    suggestion(
        open,
        SuggestedEdit {
            span: Span::at(open.caret),
            old: "".into(),
            new: text.into(),
        },
    )
}

/// Returns a model's suggestion of one edit.
pub(super) fn suggestion(open: &OpenFile, edit: SuggestedEdit) -> Suggestion {
    let model = ModelId {
        provider: "loopback".to_owned(),
        model: "probe".to_owned(),
    };
    Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: open.buffer.snapshot().revision(),
        edits: vec![edit],
        source: SuggestionSource::Gap(model),
        confidence: 1.0,
    }
}
