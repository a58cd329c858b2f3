//! Suppression of suggestions by the focused view, the settings or the user.

use std::collections::BTreeSet;

use autocomplete::engine::{BlockReason, EngineInput};
use editor::SuggestionBlocker;
use gpui_kit::{App, Context, Window};
use settings::TabShow;

use super::Prediction;
use super::suggestion_settings::DisabledReason;

impl Prediction {
    /// Returns the current reasons to suppress suggestions.
    fn blocks_now(&mut self, window: Option<&mut Window>, cx: &App) -> BTreeSet<BlockReason> {
        let mut blocks = BTreeSet::new();
        let Some(focused) = &self.focused else {
            blocks.insert(BlockReason::Off);
            return blocks;
        };
        if let Some(window) = window {
            self.blocker = focused.editor.read(cx).blocks_suggestions(window, cx);
        }
        blocks.extend(self.blocker.map(|blocker| match blocker {
            SuggestionBlocker::Composing => BlockReason::Composing,
            SuggestionBlocker::Selection | SuggestionBlocker::VimCommands => BlockReason::Selection,
            SuggestionBlocker::Snippet => BlockReason::Snippet,
            SuggestionBlocker::ReadOnly
            | SuggestionBlocker::Excerpts
            | SuggestionBlocker::Finding => BlockReason::Off,
        }));
        match self.disabled_reason(cx) {
            Some(DisabledReason::Snoozed(_)) => {
                blocks.insert(BlockReason::Snoozed);
            }
            Some(_) => {
                blocks.insert(BlockReason::Off);
            }
            None => {}
        }
        if self.settings.show() == TabShow::Asked && !self.is_requested {
            blocks.insert(BlockReason::Off);
        }
        blocks
    }

    /// Returns the reason why suggestions are disabled for the focused text. Returns `None` if
    /// suggestions are enabled, or if no text has the focus.
    pub(super) fn disabled_reason(&self, cx: &App) -> Option<DisabledReason> {
        let model = self.focused.as_ref()?.model.read(cx);
        let language = model.language().map(|language| language.name());
        let now = self.services.clock.wall_ms();
        self.settings.disabled_reason(model.path(), language, now)
    }

    /// Sends new reasons for suppression to the engine.
    pub(super) fn suppress(&mut self, window: Option<&mut Window>, cx: &mut Context<Self>) {
        let now = self.blocks_now(window, cx);
        let new: Vec<BlockReason> = now.difference(&self.blocks).copied().collect();
        for block in new {
            self.blocks.insert(block);
            self.handle(EngineInput::Blocked(block), cx);
        }
    }

    /// Withdraws reasons that no longer apply from the engine.
    pub(super) fn unsuppress(&mut self, window: Option<&mut Window>, cx: &mut Context<Self>) {
        let now = self.blocks_now(window, cx);
        let over: Vec<BlockReason> = self.blocks.difference(&now).copied().collect();
        for block in over {
            self.blocks.remove(&block);
            self.handle_refreshed(EngineInput::Unblocked(block), cx);
        }
    }

    /// Informs the engine of new reasons for suppression and of reasons that no longer apply.
    pub(super) fn sync_blocks(&mut self, mut window: Option<&mut Window>, cx: &mut Context<Self>) {
        self.suppress(window.as_deref_mut(), cx);
        self.unsuppress(window, cx);
    }
}
