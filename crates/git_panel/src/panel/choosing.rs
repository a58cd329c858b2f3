//! Commits that the user chooses in the window, and their use.

use base::AbsPath;
use gpui_kit::{Context, Window};
use ui::Tone;

use super::{ChangesPanel, ChangesPanelEvent, bisect, rebase};

/// The use of a commit that the user chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitPurpose {
    /// It is the first commit of a rebase.
    RebaseFrom,
    /// It has the error that a bisection searches.
    BisectBad,
    /// It lacks the error that `bad` has.
    BisectGood {
        /// The commit with the error.
        bad: String,
    },
}

impl CommitPurpose {
    /// Returns the heading of the list to choose from.
    pub fn heading(&self) -> &'static str {
        match self {
            Self::RebaseFrom => "First commit to rebase",
            Self::BisectBad => "A commit with the error",
            Self::BisectGood { .. } => "An older commit without the error",
        }
    }
}

impl ChangesPanel {
    /// Uses the commit or revision that the user chose after `ChangesPanelEvent::ChooseCommit`.
    pub fn commit_chosen(
        &mut self,
        repository: AbsPath,
        purpose: CommitPurpose,
        revision: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match purpose {
            CommitPurpose::RebaseFrom => rebase::open_from(self, repository, revision, window, cx),
            CommitPurpose::BisectBad => {
                let purpose = CommitPurpose::BisectGood { bad: revision };
                choose(self, repository, purpose, window, cx);
            }
            CommitPurpose::BisectGood { bad } => {
                bisect::start(self, repository, (bad, revision), window, cx);
            }
        }
    }
}

/// Asks for the commit for a purpose, in the current repository.
pub(super) fn choose_here(
    panel: &mut ChangesPanel,
    purpose: CommitPurpose,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    match panel.state.current().map(|it| it.info.root.clone()) {
        Some(root) => choose(panel, root, purpose, window, cx),
        None => panel.note(Tone::Info, "There is no repository here", cx),
    }
}

/// Asks for the commit for a purpose.
pub(super) fn choose(
    panel: &mut ChangesPanel,
    repository: AbsPath,
    purpose: CommitPurpose,
    window: &mut Window,
    cx: &mut Context<ChangesPanel>,
) {
    let reading = panel.service.recent_commits(&repository);
    cx.spawn_in(window, async move |this, cx| {
        let commits = reading.await;
        this.update_in(cx, |this, _, cx| match commits {
            Ok(commits) => cx.emit(ChangesPanelEvent::ChooseCommit {
                repository,
                purpose,
                commits,
            }),
            Err(failure) => this.fail(&failure, cx),
        })
        // The panel may be gone.
        .ok();
    })
    .detach();
}
