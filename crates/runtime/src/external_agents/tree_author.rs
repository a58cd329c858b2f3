//! Attributes the changes in a worktree to the external agent that works there.
//!
//! An agent may write through the protocol, by its own tools, or by commands, and may report none of
//! it. So the whole tree is compared after each call and at the end of each turn.

use std::sync::{Arc, Mutex};

use composer::change_history::{AgentCall, ChangeAuthor, ChangeHistory, ObserveScope};
use composer::worktrees::lock_of;

/// The agent as author of the changes of a worktree.
#[derive(Clone)]
pub(crate) struct TreeAuthor {
    history: Arc<Mutex<ChangeHistory>>,
    session: Arc<str>,
    turn: u64,
}

impl TreeAuthor {
    pub(crate) fn new(history: Arc<Mutex<ChangeHistory>>, session: Arc<str>) -> Self {
        Self {
            history,
            session,
            turn: 0,
        }
    }

    /// Begins a turn: differences so far are those of others, later ones the agent's. Returns the
    /// problems as sentences.
    pub(super) async fn begin_turn(&mut self, turn: u64) -> Vec<String> {
        self.turn = turn;
        let (session, author) = (self.session.clone(), self.author("", "turn"));
        self.run(move |history| {
            history.observe(ObserveScope::All, &ChangeAuthor::Disk)?;
            history.checkpoint(&session, turn)?;
            // Whatever looks at the tree meanwhile finds the agent's changes.
            history.set_running(Some(author));
            Ok(())
        })
        .await
    }

    /// Records the changes of a call that has ended.
    pub(super) async fn end_call(&self, call: &str, tool: &str) -> Vec<String> {
        let author = self.author(call, tool);
        self.run(move |history| history.observe(ObserveScope::All, &author).map(drop))
            .await
    }

    /// Records the remaining changes of the turn.
    pub(super) async fn end_turn(&self) -> Vec<String> {
        let author = self.author("", "turn");
        self.run(move |history| {
            let observed = history.observe(ObserveScope::All, &author).map(drop);
            history.set_running(None);
            observed
        })
        .await
    }

    fn author(&self, call: &str, tool: &str) -> ChangeAuthor {
        ChangeAuthor::Agent(AgentCall {
            session: self.session.as_ref().to_owned(),
            turn: self.turn,
            call: call.to_owned(),
            tool: tool.to_owned(),
        })
    }

    /// Runs `act` on a thread that may block; returns its problems as sentences.
    async fn run(
        &self,
        act: impl FnOnce(&mut ChangeHistory) -> Result<(), composer::Error> + Send + 'static,
    ) -> Vec<String> {
        let history = self.history.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut history = lock_of(&history);
            let done = act(&mut history);
            let mut problems = history.take_problems();
            problems.extend(done.err().map(|error| error.to_string()));
            problems
        });
        let problems = done.await.unwrap_or_else(|error| vec![error.to_string()]);
        let told = problems.into_iter();
        told.map(|problem| format!("Review and undo may miss changes: {problem}"))
            .collect()
    }
}
