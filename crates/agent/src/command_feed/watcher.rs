//! A watcher of a command: the kept output first, then what comes.

use std::collections::VecDeque;
use std::sync::Arc;

use host::process::ProcessExit;
use tokio::sync::watch;

use super::feed::CommandFeed;
use super::{CommandFeedEvent, CommandInput};

/// Maximum number of bytes of output in one event.
const MAX_CHUNK: usize = 32 << 10;
/// Maximum number of bytes that are left out so that kept output begins with a whole line.
const MAX_PARTIAL_LINE: usize = 4 << 10;

/// A watcher of a command. Dropping it detaches it; the command goes on, under the control of its agent.
pub struct CommandWatch {
    feed: Arc<CommandFeed>,
    watcher: u64,
    changes: watch::Receiver<()>,
    /// Number of bytes of output that the watcher has.
    offset: u64,
    /// Output before this offset was printed before the watcher could see it.
    live_from: u64,
    is_announced: bool,
    control: Option<super::CommandControl>,
    is_over: bool,
}

impl CommandWatch {
    pub(super) fn new(feed: Arc<CommandFeed>, from: u64) -> Self {
        let changes = feed.subscribe();
        let watcher = feed.attach();
        let end = feed.lock().end;
        Self {
            feed,
            watcher,
            changes,
            offset: from.min(end),
            live_from: end,
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
        let start = state.end - state.backlog.len() as u64;
        if self.offset < start {
            self.offset = start + partial_line(&state.backlog) as u64;
            self.live_from = state.end;
        }
        if self.offset < state.end {
            let is_backlog = self.offset < self.live_from;
            let limit = if is_backlog {
                self.live_from
            } else {
                state.end
            };
            let from = (self.offset - start) as usize;
            let length = ((limit - self.offset) as usize).min(MAX_CHUNK);
            let offset = self.offset;
            self.offset += length as u64;
            let bytes = state.backlog.range(from..from + length);
            return Some(CommandFeedEvent::Output {
                offset,
                bytes: bytes.copied().collect(),
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

/// Returns the length of the rest of a line with which kept output begins; 0 if the line is long.
fn partial_line(backlog: &VecDeque<u8>) -> usize {
    let mut beginning = backlog.iter().take(MAX_PARTIAL_LINE);
    let end = beginning.position(|byte| *byte == b'\n');
    end.map_or(0, |end| end + 1)
}
