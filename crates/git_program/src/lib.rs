//! Runs the user's own git: for hooks, filters, signatures, remotes and blame, and for the repositories that libgit2
//! cannot read.
//!
//! Knows: `base`, processes and files of `host`. Must not know: windows, documents, the folders that the user trusts,
//! when to refresh.
//! Invariant: no process starts but in the user's own checkout of a trusted folder, which the caller vouches for with
//! `CheckoutTrust`.
//! Invariant: a call that reads takes no lock of Git; of the calls that write the index, one runs at a time.
//! Invariant: a password is in no argument, variable, log or error.
//! Invariant: no output is kept without a bound, and a cancelled call leaves no process and no lock file.
//! Start at `GitProgram`; `CommitGraph` is pure, and `PromptServer` asks the user.

#![warn(missing_docs)]

mod askpass;
mod bisect;
mod bisect_progress;
mod blame;
mod branch_list;
mod branches;
mod call;
mod cancellation;
mod commit;
mod compare;
mod details;
mod error;
mod graph;
mod hook_trace;
mod identity;
mod index_lock;
mod log;
mod operation;
mod output_log;
mod program;
mod progress;
mod pull_requests;
mod push;
mod quoted;
mod rebase;
mod records;
mod reflog;
mod reflog_states;
mod remote;
mod run;
mod staging;
mod stash;
mod status;
#[cfg(test)]
mod tests;
mod write_gate;

pub use askpass::{Prompt, PromptKind, PromptReply, PromptServer, askpass_client};
pub use bisect::{BisectState, BisectVerdict, parse_bisect};
pub use blame::{BlameOptions, BlameParser, BlamedCommit, BlamedLines};
pub use branch_list::{ListedBranch, ListedUpstream};
pub use branches::{LocalChanges, SwitchKind, SwitchOutcome, SwitchRequest};
pub use cancellation::Cancellation;
pub use commit::{CommitRequest, MessageComments, MessageSettings};
pub use compare::UncommittedSide;
pub use details::{CommitDetails, CommitPerson, CommittedChange, parse_raw_changes};
pub use error::{Error, HookFailure};
pub use graph::{CommitGraph, GraphLine, GraphRow};
pub use identity::{CommitIdentity, IdentityScope};
pub use log::{LogOrder, LogParser, LogQuery, LogRow, Pickaxe, RefKind, RefLabel};
pub use operation::{
    FastForward, MergeRequest, OperationKind, OperationOutcome, OperationState, OutputReceiver,
    ResetMode,
};
pub use output_log::OutputLog;
pub use program::{CheckoutTrust, GitProgram, find_program};
pub use progress::{ProgressParser, RemoteProgress, RemoteReport};
pub use pull_requests::{ForgeProgram, PullRequest, parse_pull_requests};
pub use push::{PushOutcome, PushRejection, PushRequest, PushUpdate};
pub use rebase::{RebaseAction, RebaseRequest, RebaseStep};
pub use reflog::{ReflogEntry, UndoPlan, UndoStep, parse_reflog, undo_plan};
pub use reflog_states::{NamedCommits, ReflogState};
pub use remote::{FetchRequest, PullJoin, PullOptions, ReportReceiver};
pub use run::CallTerminal;
pub use staging::IndexEntries;
pub use stash::{StashEntry, StashParts, StashRequest};
pub use status::{
    BranchStatus, ChangeLetter, EntryState, StatusEntry, StatusReport, SubmoduleState,
    TrackedState, parse_status,
};
