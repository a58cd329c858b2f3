//! The commands of Git by their actions, for the panel and for the whole window.

use git_program::{BisectVerdict, FetchRequest, PullOptions, StashParts, StashRequest};
use gpui_kit::{Context, Div, InteractiveElement as _, Stateful, Window};

use super::{
    BisectStep, ChangesPanel, ChangesPanelEvent, CommitKind, CommitPurpose, bisect, choosing,
    identity, pull_requests, rebase,
};
use crate::actions as act;
use crate::service::{GitCommand, PushMode};

/// A command of Git that needs no file: the form of an action that the window passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelCommand {
    /// Stages all changes.
    StageAll,
    /// Unstages all changes.
    UnstageAll,
    /// Commits.
    Commit(CommitKind),
    /// Takes the message of the last commit.
    UseLastMessage,
    /// Asks the small model for a message.
    SuggestMessage,
    /// Asks for a branch and switches to it.
    SwitchBranch,
    /// Asks for the name of a new branch.
    CreateBranch,
    /// Fetches.
    Fetch,
    /// Pulls.
    Pull,
    /// Pushes.
    Push,
    /// Asks, and replaces the branch of the remote.
    PushWithLease,
    /// Stashes.
    Stash,
    /// Applies the latest stash.
    StashPop,
    /// Continues the operation in progress.
    Continue,
    /// Leaves out a commit.
    Skip,
    /// Asks, and aborts the operation in progress.
    Abort,
    /// Creates a repository.
    Initialize,
    /// Asks for the author of commits.
    SetIdentity,
    /// Edits the list of the commits after the upstream branch, to replay them.
    Rebase,
    /// Asks for the first commit of such a list.
    RebaseFrom,
    /// Asks for a pull request, and checks it out.
    CheckOutPullRequest,
    /// Asks for a bad and a good commit, and begins a bisection.
    StartBisect,
    /// Carries out a step of a bisection.
    Bisect(BisectStep),
}

impl ChangesPanel {
    /// Carries out a command.
    pub fn command(&mut self, command: PanelCommand, window: &mut Window, cx: &mut Context<Self>) {
        let stash = StashRequest {
            message: None,
            parts: StashParts::Tracked,
            with_untracked: false,
        };
        let call = match command {
            PanelCommand::StageAll => return self.set_all_staged(true, window, cx),
            PanelCommand::UnstageAll => return self.set_all_staged(false, window, cx),
            PanelCommand::Commit(kind) => return self.commit(kind, window, cx),
            PanelCommand::UseLastMessage => return self.use_last_message(window, cx),
            PanelCommand::SuggestMessage => return self.suggest_message(window, cx),
            PanelCommand::SwitchBranch => return self.choose_branch(window, cx),
            PanelCommand::CreateBranch => return cx.emit(ChangesPanelEvent::NameBranch),
            PanelCommand::PushWithLease => return self.ask_push_with_lease(window, cx),
            PanelCommand::Abort => return self.ask_abort(window, cx),
            PanelCommand::Initialize => return self.initialize(window, cx),
            PanelCommand::SetIdentity => return identity::open(self, None, window, cx),
            PanelCommand::Rebase => return rebase::open(self, window, cx),
            PanelCommand::CheckOutPullRequest => return pull_requests::choose(self, window, cx),
            PanelCommand::StartBisect => {
                return choosing::choose_here(self, CommitPurpose::BisectBad, window, cx);
            }
            PanelCommand::Bisect(step) => return bisect::step(self, step, window, cx),
            PanelCommand::RebaseFrom => {
                return choosing::choose_here(self, CommitPurpose::RebaseFrom, window, cx);
            }
            PanelCommand::Fetch => GitCommand::Fetch(FetchRequest::default()),
            PanelCommand::Pull => GitCommand::Pull(PullOptions::default()),
            PanelCommand::Push => GitCommand::Push(PushMode::Normal),
            PanelCommand::Stash => GitCommand::Stash(stash),
            PanelCommand::StashPop => GitCommand::StashPop,
            PanelCommand::Continue => GitCommand::Continue,
            PanelCommand::Skip => GitCommand::Skip,
        };
        self.run(call, window, cx);
    }
}

/// Registers the actions of the namespace `git` that need no file; each calls `handle`.
pub fn on_commands<V: 'static>(
    element: Stateful<Div>,
    handle: fn(&mut V, PanelCommand, &mut Window, &mut Context<V>),
    cx: &mut Context<V>,
) -> Stateful<Div> {
    macro_rules! on {
        ($element:expr, $($action:ident => $command:expr,)+) => {
            $element$(.on_action(cx.listener(move |this, _: &act::$action, window, cx| {
                handle(this, $command, window, cx);
            })))+
        };
    }
    use PanelCommand as C;
    on!(element,
        StageAll => C::StageAll,
        UnstageAll => C::UnstageAll,
        Commit => C::Commit(CommitKind::Plain),
        CommitAndPush => C::Commit(CommitKind::AndPush),
        Amend => C::Commit(CommitKind::Amend),
        CommitSignedOff => C::Commit(CommitKind::SignedOff),
        CommitWithoutHooks => C::Commit(CommitKind::WithoutHooks),
        UseLastMessage => C::UseLastMessage,
        SuggestMessage => C::SuggestMessage,
        SwitchBranch => C::SwitchBranch,
        CreateBranch => C::CreateBranch,
        Fetch => C::Fetch,
        Pull => C::Pull,
        Push => C::Push,
        PushWithLease => C::PushWithLease,
        Stash => C::Stash,
        StashPop => C::StashPop,
        ContinueOperation => C::Continue,
        SkipCommit => C::Skip,
        AbortOperation => C::Abort,
        InitializeRepository => C::Initialize,
        SetIdentity => C::SetIdentity,
        RebaseCommits => C::Rebase,
        RebaseFromCommit => C::RebaseFrom,
        CheckOutPullRequest => C::CheckOutPullRequest,
        StartBisect => C::StartBisect,
        BisectGood => C::Bisect(BisectStep::Mark(BisectVerdict::Good)),
        BisectBad => C::Bisect(BisectStep::Mark(BisectVerdict::Bad)),
        BisectSkip => C::Bisect(BisectStep::Mark(BisectVerdict::Skip)),
        BisectReset => C::Bisect(BisectStep::Reset),
        ShowFirstBadCommit => C::Bisect(BisectStep::ShowFound),
    )
}
