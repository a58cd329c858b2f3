//! Keeps the syntax tree up to date: a millisecond on the UI thread, the rest in the background.
//!
//! The parser passes over what follows an edit in the same list, and after an error over all that
//! follows. In a long text a parse therefore costs much more than a key: it waits for a pause, and
//! until then the tree has the older structure.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gpui_kit::{AppContext as _, Context};
use syntax::{Budget, Language, ParseJob, ParseStatus, ParsedTree, SyntaxTree};
use text::{Change, Snapshot};

use super::first_frame::FirstFrame;
use super::settling::SettleTimes;
use super::{DocumentModel, ModelEvent};

/// Maximum duration of a parse on the UI thread.
const BUDGET: Duration = Duration::from_millis(1);

/// Time a keystroke spends on a parse before it is known to take too long.
const KEY_BUDGET: Duration = Duration::from_micros(250);

/// Number of parses that go directly to the background after one took too long.
const PATIENCE: u32 = 64;

/// Maximum cost of a parse that runs after every key, in progress checks, one per hundred steps of
/// the parser: about a millisecond. A costlier parse waits for a pause in typing.
const MAX_KEY_CHECKS: usize = 100;

impl DocumentModel {
    /// Sets the language, `None` for plain text, and parses the text again.
    pub fn set_language(&mut self, language: Option<Language>, cx: &mut Context<Self>) {
        if language != self.language {
            self.use_language(language, cx);
        }
    }

    pub(super) fn use_language(&mut self, language: Option<Language>, cx: &mut Context<Self>) {
        self.language = language;
        self.parse_task = None;
        self.settle_times = SettleTimes::default();
        // Memory and time of a tree grow with the text, so large files have none.
        self.tree = language
            .filter(|_| !self.document.is_large())
            .map(SyntaxTree::new);
        self.syntax = None;
        self.parse_elsewhere = 0;
        self.parse_checks = 0;
        self.parse(BUDGET, cx);
        cx.emit(ModelEvent::SyntaxUpdated);
        cx.notify();
    }

    pub(super) fn follow_syntax(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        change: &Change,
        cx: &mut Context<Self>,
    ) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        tree.edit(before, after, change);
        self.settle_times.end(self.environment.clock.elapsed());
        if self.parse_checks > MAX_KEY_CHECKS {
            tree.stop();
            self.parse_task = None;
        }
        self.parse(KEY_BUDGET, cx);
    }

    /// Parses the text if that was put off, and settles its tree.
    pub(super) fn parse_at_rest(&mut self, cx: &mut Context<Self>) {
        let parsed = |model: &Self| model.tree.as_ref().and_then(SyntaxTree::parsed_revision);
        let before = parsed(self);
        self.parse(KEY_BUDGET, cx);
        if parsed(self) != before {
            cx.emit(ModelEvent::SyntaxUpdated);
            cx.notify();
        }
    }

    /// Parses the text within the budget. Puts a costly parse off while the user types.
    fn parse(&mut self, budget: Duration, cx: &mut Context<Self>) {
        let snapshot = self.document.snapshot();
        let Some(tree) = &mut self.tree else {
            return;
        };
        if self.parse_checks > MAX_KEY_CHECKS && self.rest.is_running() {
            self.syntax = Some(tree.snapshot());
            return;
        }
        let clock = self.environment.clock.clone();
        // A text too long for the last keystroke is too long for this one.
        self.parse_elsewhere = self.parse_elsewhere.saturating_sub(1);
        let goes_elsewhere = self.parse_elsewhere > 0;
        let deadline = clock.elapsed() + budget;
        let mut checks = 0;
        let mut is_spent = || {
            checks += 1;
            goes_elsewhere || clock.elapsed() >= deadline
        };
        let parsed = tree.parsed_revision();
        let is_update = parsed.is_some_and(|parsed| parsed != snapshot.revision());
        let status = tree.parse(&snapshot, &mut Budget::until(&mut is_spent));
        self.syntax = Some(tree.snapshot());
        if is_update && matches!(status, ParseStatus::Done | ParseStatus::Unsettled) {
            self.parse_checks = checks;
        }
        match status {
            ParseStatus::Done => {}
            ParseStatus::Running => {}
            ParseStatus::Pending(job) => {
                if !goes_elsewhere {
                    self.parse_elsewhere = PATIENCE;
                }
                self.run_parse(job, cx);
            }
            // The next pause settles the tree.
            ParseStatus::Unsettled if self.rest.is_running() => {}
            ParseStatus::Unsettled => self.settle(cx),
        }
    }

    pub(super) fn run_parse(&mut self, job: ParseJob, cx: &mut Context<Self>) {
        let first_frame = FirstFrame::of(cx);
        let parsed = cx.background_spawn(async move {
            if let Some(first_frame) = first_frame {
                first_frame.wait().await;
            }
            job.run(&AtomicBool::new(false))
        });
        self.parse_task = Some(cx.spawn(async move |this, cx| {
            let parsed = parsed.await;
            // If the model was dropped, the tree is not needed.
            this.update(cx, |model, cx| model.accept_parse(parsed, cx))
                .ok();
        }));
    }

    fn accept_parse(&mut self, parsed: Option<ParsedTree>, cx: &mut Context<Self>) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        self.settle_times.end(self.environment.clock.elapsed());
        if let Some(checks) = parsed.as_ref().and_then(ParsedTree::update_checks) {
            self.parse_checks = checks;
        }
        let is_newer = parsed.is_some_and(|parsed| tree.accept(parsed));
        // Edits made in the meantime still need parsing.
        self.parse(KEY_BUDGET, cx);
        if is_newer {
            cx.emit(ModelEvent::SyntaxUpdated);
            cx.notify();
        }
    }
}
