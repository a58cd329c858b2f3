//! The terminals that a prompt can mention.

use gpui_kit::{App, Entity, SharedString};

use super::TerminalPanel;
use crate::view::{FailedCommand, TerminalView, failed_command, mention_id, quote, quoted_command};

/// A terminal that a prompt can mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalMention {
    /// Identifies the terminal and its last command.
    pub id: String,
    /// The title of the terminal; untrusted text.
    pub title: SharedString,
    /// The line of its last command; untrusted text, empty without marks of the shell.
    pub command: String,
    /// The end of the command in a few words.
    pub state: String,
}

/// The quote of a terminal that was mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedOutput {
    /// The id of the mention.
    pub id: String,
    /// The last command with its exit code and its output; untrusted text.
    pub text: String,
}

impl TerminalPanel {
    /// Returns the terminals that run or ran something, the one that had the focus first.
    pub fn mentions(&self, cx: &App) -> Vec<TerminalMention> {
        let views = self.views_by_rank();
        views.filter_map(|view| mention(view, cx)).collect()
    }

    /// Returns the command in view of the shown terminal if it failed, or else the last one that failed there, or else in
    /// another terminal.
    pub fn last_failure(&self, cx: &App) -> Option<FailedCommand> {
        let mut views = self.views_by_rank();
        views.find_map(|view| failed_command(view.read(cx), view.entity_id().as_u64()))
    }

    /// Returns the terminals. The first is the one among the texts that had the focus after those of the panel, or the one
    /// that the panel shows.
    fn views_by_rank(&self) -> impl Iterator<Item = &Entity<TerminalView>> {
        let active = self.focused_in_editor().or(self.active_view());
        let others = self.views().filter(move |view| Some(*view) != active);
        active.into_iter().chain(others)
    }

    /// Reads what a mention quotes; `None` if its terminal was closed, or another command ran there since.
    pub fn mentioned_output(&self, id: &str, cx: &App) -> Option<MentionedOutput> {
        let mut views = self.views();
        let view = views.find(|view| mention(view, cx).is_some_and(|it| it.id == id))?;
        Some(MentionedOutput {
            id: id.to_owned(),
            text: quote(view.read(cx))?,
        })
    }
}

fn mention(view: &Entity<TerminalView>, cx: &App) -> Option<TerminalMention> {
    let terminal = view.entity_id().as_u64();
    let view = view.read(cx);
    let quoted = quoted_command(view)?;
    Some(TerminalMention {
        id: mention_id(terminal, quoted.number),
        title: view.title(),
        command: quoted.line,
        state: quoted.state,
    })
}
