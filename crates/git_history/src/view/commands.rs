//! The commands of the selected commit. Those that change the repository are run by the window, which asks first.

use git_program::{LogRow, ResetMode};
use gpui_kit::{ClipboardItem, Context, Window};
use ui::Menu;

use super::loading::LoadProgress;
use super::{HistoryEvent, HistoryView};
use crate::actions::{
    CheckOut, CherryPick, CompareWithMarked, CompareWithWorkingTree, CopyId, CreateBranch,
    CreateTag, MarkForComparison, OpenOnHost, RebaseFrom, Refresh, ResetHard, ResetMixed,
    ResetSoft, Revert, ToggleAllBranches,
};
use crate::blame::short_id;
use crate::service::CommitCommand;

impl HistoryView {
    /// Builds the context menu of the list.
    pub(super) fn menu(&self) -> Menu {
        let menu = Menu::new().focus(self.list_focus.clone());
        if self.selected_commit().is_none() {
            return menu.action("Refresh", Box::new(Refresh));
        }
        menu.action("Copy commit id", Box::new(CopyId))
            .action("Open on the web", Box::new(OpenOnHost))
            .separator()
            .action("Mark for comparison", Box::new(MarkForComparison))
            .action("Compare with marked commit", Box::new(CompareWithMarked))
            .action(
                "Compare with working tree",
                Box::new(CompareWithWorkingTree),
            )
            .separator()
            .action("Check out", Box::new(CheckOut))
            .action("Create branch\u{2026}", Box::new(CreateBranch))
            .action("Create tag\u{2026}", Box::new(CreateTag))
            .separator()
            .action("Cherry-pick", Box::new(CherryPick))
            .action("Revert", Box::new(Revert))
            .action("Rebase from here\u{2026}", Box::new(RebaseFrom))
            .separator()
            .action("Reset, keep changes staged", Box::new(ResetSoft))
            .action("Reset, keep changes in files", Box::new(ResetMixed))
            .action("Reset and discard changes\u{2026}", Box::new(ResetHard))
            .separator()
            .action("Refresh", Box::new(Refresh))
    }

    pub(super) fn commit_or_tell(&self, cx: &mut Context<Self>) -> Option<LogRow> {
        let commit = self.selected_commit().cloned();
        if commit.is_none() {
            cx.emit(HistoryEvent::Tell("No commit is selected".into()));
        }
        commit
    }

    fn ask(&self, command: CommitCommand, cx: &mut Context<Self>) {
        if let Some(commit) = self.commit_or_tell(cx) {
            let commit = Box::new(commit);
            cx.emit(HistoryEvent::Run { commit, command });
        }
    }

    fn ask_name(&self, is_tag: bool, cx: &mut Context<Self>) {
        if let Some(commit) = self.commit_or_tell(cx) {
            let commit = Box::new(commit);
            cx.emit(HistoryEvent::NameWanted { commit, is_tag });
        }
    }

    pub(super) fn check_out(&mut self, _: &CheckOut, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::CheckOut, cx);
    }

    pub(super) fn create_branch(
        &mut self,
        _: &CreateBranch,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.ask_name(false, cx);
    }

    pub(super) fn create_tag(&mut self, _: &CreateTag, _: &mut Window, cx: &mut Context<Self>) {
        self.ask_name(true, cx);
    }

    pub(super) fn cherry_pick(&mut self, _: &CherryPick, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::CherryPick, cx);
    }

    pub(super) fn revert(&mut self, _: &Revert, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::Revert, cx);
    }

    pub(super) fn rebase_from(&mut self, _: &RebaseFrom, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(commit) = self.commit_or_tell(cx) {
            cx.emit(HistoryEvent::RebaseFrom(commit.id));
        }
    }

    pub(super) fn reset_soft(&mut self, _: &ResetSoft, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::Reset(ResetMode::Soft), cx);
    }

    pub(super) fn reset_mixed(&mut self, _: &ResetMixed, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::Reset(ResetMode::Mixed), cx);
    }

    pub(super) fn reset_hard(&mut self, _: &ResetHard, _: &mut Window, cx: &mut Context<Self>) {
        self.ask(CommitCommand::Reset(ResetMode::Hard), cx);
    }

    pub(super) fn copy_id(&mut self, _: &CopyId, _: &mut Window, cx: &mut Context<Self>) {
        if let Some(commit) = self.commit_or_tell(cx) {
            let told = format!("Copied {}", short_id(&commit.id));
            cx.write_to_clipboard(ClipboardItem::new_string(commit.id));
            cx.emit(HistoryEvent::Tell(told.into()));
        }
    }

    pub(super) fn open_on_host(&mut self, _: &OpenOnHost, _: &mut Window, cx: &mut Context<Self>) {
        let Some(commit) = self.commit_or_tell(cx) else {
            return;
        };
        let page = self.service.commit_page(commit.id);
        cx.spawn(async move |this, cx| {
            let page = page.await;
            let told = this.update(cx, |_, cx| {
                cx.emit(match page {
                    Some(page) => HistoryEvent::OpenPage(page),
                    None => HistoryEvent::Tell("No remote has web pages of commits".into()),
                });
            });
            // The view may have been closed.
            told.ok();
        })
        .detach();
    }

    pub(super) fn toggle_all_branches(
        &mut self,
        _: &ToggleAllBranches,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.is_all = !self.is_all;
        self.follow_filter(cx);
        cx.notify();
    }

    pub(super) fn refresh_now(&mut self, _: &Refresh, _: &mut Window, cx: &mut Context<Self>) {
        self.refresh(self.now, cx);
    }

    /// Returns the number of rows that are loaded, for the status line.
    pub(super) fn status_words(&self) -> String {
        let count = base::count_of(self.rows.len(), "commit");
        match self.load.progress {
            LoadProgress::Reading if self.wants_more() => {
                format!("{count}, reading\u{2026}")
            }
            LoadProgress::Reading => format!("{count} and more"),
            LoadProgress::Ended => count,
        }
    }
}
