//! The list of a rebase in the modal layer, and the choice of a commit for it.

use base::AbsPath;
use git_panel::{ChangesPanel, CommitPurpose, RebaseList, RebasePlan};
use git_program::LogRow;
use gpui_kit::{AppContext as _, Context, Entity, Window};

use super::{report_missing, show};
use crate::pickers::commits::CommitPicker;
use crate::workbench::Workbench;

/// Shows the list of the commits of a plan.
pub(super) fn edit(
    workbench: &Workbench,
    panel: &Entity<ChangesPanel>,
    repository: AbsPath,
    plan: RebasePlan,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = panel.clone();
    let list = cx.new(|cx| RebaseList::new(panel, repository, plan, cx));
    workbench
        .modal
        .update(cx, |modal, cx| modal.show("Rebase", list, window, cx));
}

/// Asks for a commit, and uses it for its purpose.
pub(super) fn choose_commit(
    workbench: &mut Workbench,
    panel: &Entity<ChangesPanel>,
    (repository, purpose): (AbsPath, CommitPurpose),
    commits: Vec<LogRow>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = panel.clone();
    let picker = CommitPicker::new(purpose.heading(), commits, move |revision, window, cx| {
        let (repository, purpose) = (repository.clone(), purpose.clone());
        panel.update(cx, |panel, cx| {
            panel.commit_chosen(repository, purpose, revision, window, cx);
        });
    });
    workbench.pick(picker, window, cx);
}

/// Shows the list of the commits from `first` on, of the repository around the window's folder.
pub(in crate::workbench) fn rebase_from(
    workbench: &mut Workbench,
    first: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.git.panel().cloned();
    let root = workbench.root(cx);
    let Some((panel, root)) = panel.zip(root) else {
        return report_missing(workbench, window, cx);
    };
    let Some((repository, _)) = panel.read(cx).repository_of(&root) else {
        return report_missing(workbench, window, cx);
    };
    show(workbench, cx);
    panel.update(cx, |panel, cx| {
        panel.commit_chosen(repository, CommitPurpose::RebaseFrom, first, window, cx);
    });
}
