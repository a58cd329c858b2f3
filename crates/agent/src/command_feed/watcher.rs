//! A watcher of a command: the kept output first, then what comes.

use std::sync::Arc;

use host::process::{BacklogReader, OutputPart, ProcessExit};
use tokio::sync::watch;

use super::feed::CommandFeed;
use super::{CommandFeedEvent, CommandInput};

/// A watcher of a command. Dropping it detaches it; the command goes on, under the control of its agent.
pub struct CommandWatch {
    feed: Arc<CommandFeed>,
    watcher: u64,
    changes: watch::Receiver<()>,
    reader: BacklogReader,
    is_announced: bool,
    control: Option<super::CommandControl>,
    is_over: bool,
}

impl CommandWatch {
    pub(super) fn new(feed: Arc<CommandFeed>, from: u64) -> Self {
        let changes = feed.subscribe();
        let watcher = feed.attach();
        let reader = BacklogReader::new(&feed.lock().backlog, from);
        Self {
            feed,
            watcher,
            changes,
            reader,
            is_announced: false,
            control: None,
            is_over: false,
        }
    }

    /// Returns the next event, once there is one. Returns `None` after the end of the command. The future may be
    /// dropped at any time.
    pub async fn next(&mut self) -> Option<CommandFeedEvent> {
        while !self.is_over {
            self.changes.mark_unchanged();
            if let Some(event) = self.ready() {
                return Some(event);
            }
            // The feed has the sender.
            self.changes.changed().await.ok()?;
        }
        None
    }

    /// Returns the function that carries out the inputs of this watcher, as long as it is attached. It never waits.
    pub fn sender(&self) -> impl Fn(CommandInput) + Send + Sync + use<> {
        let (feed, watcher) = (Arc::clone(&self.feed), self.watcher);
        move |input| feed.input(watcher, input)
    }

    fn ready(&mut self) -> Option<CommandFeedEvent> {
        if !std::mem::replace(&mut self.is_announced, true) {
            return Some(CommandFeedEvent::Attached(self.feed.about().clone()));
        }
        let state = self.feed.lock();
        let control = state.control(self.watcher);
        if self.control.replace(control) != Some(control) {
            return Some(CommandFeedEvent::Control(control));
        }
        if let Some(OutputPart {
            offset,
            bytes,
            is_backlog,
        }) = self.reader.read(&state.backlog, u64::MAX)
        {
            return Some(CommandFeedEvent::Output {
                offset,
                bytes,
                is_backlog,
            });
        }
        let exit = state.exit?;
        self.is_over = true;
        Some(CommandFeedEvent::Ended(match exit {
            ProcessExit::Exited(code) => Some(code),
            ProcessExit::Signalled(_) | ProcessExit::TimedOut => None,
        }))
    }
}

impl Drop for CommandWatch {
    fn drop(&mut self) {
        self.feed.detach(self.watcher);
    }
}
