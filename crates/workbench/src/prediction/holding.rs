//! When nothing is offered: what the view at hand, the settings and the person say against it.

use std::collections::BTreeSet;

use autocomplete::engine::{Blocked, Input};
use editor::Unsuited;
use gpui_kit::{App, Context, Window};
use settings::TabShow;

use super::Prediction;
use super::gate::Off;

impl Prediction {
    /// Why the engine is to hold back now.
    fn blocks_now(&mut self, window: Option<&mut Window>, cx: &App) -> BTreeSet<Blocked> {
        let mut blocks = BTreeSet::new();
        let Some(front) = &self.front else {
            blocks.insert(Blocked::Off);
            return blocks;
        };
        if let Some(window) = window {
            self.unsuited = front.editor.read(cx).blocks_suggestions(window, cx);
        }
        blocks.extend(self.unsuited.map(|unsuited| match unsuited {
            Unsuited::Composing => Blocked::Composing,
            Unsuited::Selection => Blocked::Selection,
            Unsuited::ReadOnly | Unsuited::Excerpts | Unsuited::Finding => Blocked::Off,
        }));
        match self.off(cx) {
            Some(Off::Snoozed(_)) => {
                blocks.insert(Blocked::Snoozed);
            }
            Some(_) => {
                blocks.insert(Blocked::Off);
            }
            None => {}
        }
        if self.gate.show() == TabShow::Asked && !self.is_asked {
            blocks.insert(Blocked::Off);
        }
        blocks
    }

    /// Why the settings or the person want nothing in the text at hand.
    pub(super) fn off(&self, cx: &App) -> Option<Off> {
        let model = self.front.as_ref()?.model.read(cx);
        let language = model.language().map(|language| language.name());
        let now = self.services.clock.wall_ms();
        self.gate.off(model.path(), language, now)
    }

    /// Tells the engine of new reasons to hold back.
    pub(super) fn hold_back(&mut self, window: Option<&mut Window>, cx: &mut Context<Self>) {
        let now = self.blocks_now(window, cx);
        let new: Vec<Blocked> = now.difference(&self.blocks).copied().collect();
        for block in new {
            self.blocks.insert(block);
            self.feed(Input::Blocked(block), cx);
        }
    }

    /// Tells the engine of reasons that are over.
    pub(super) fn let_go(&mut self, window: Option<&mut Window>, cx: &mut Context<Self>) {
        let now = self.blocks_now(window, cx);
        let over: Vec<Blocked> = self.blocks.difference(&now).copied().collect();
        for block in over {
            self.blocks.remove(&block);
            self.feed(Input::Unblocked(block), cx);
        }
    }

    pub(super) fn follow_blocks(
        &mut self,
        mut window: Option<&mut Window>,
        cx: &mut Context<Self>,
    ) {
        self.hold_back(window.as_deref_mut(), cx);
        self.let_go(window, cx);
    }
}
