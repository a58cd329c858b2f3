//! The user's shells of the background process, as a window uses them.

use std::sync::{Arc, Weak};

use agent_service::Error;
use base::AbsPath;
use futures::StreamExt as _;
use futures::channel::mpsc::UnboundedReceiver;
use futures::future::{BoxFuture, FutureExt as _};

use super::link::{ServerLink, StreamGuard};
use crate::protocol::{ServiceRequest, StreamCommand, StreamItem, StreamRequest};
use crate::shells::{KeptShell, RestoredText, ShellEvent, ShellInput, ShellLaunch};

/// The user's shells of the background process. The process starts with the first shell that is started or attached to.
pub struct BackgroundShells {
    link: ServerLink,
}

/// A connection to a shell, whose events are not followed yet.
pub struct ShellConnection {
    sender: ShellSender,
    items: UnboundedReceiver<StreamItem>,
    /// Whether the program has ended.
    pub has_ended: bool,
    /// The text of an earlier run above the output.
    pub restored: Option<RestoredText>,
    /// The nonce of the shell integration.
    pub nonce: Option<String>,
}

/// Sends inputs to a shell. The window is attached until the last clone is dropped; the shell goes on.
#[derive(Clone)]
pub struct ShellSender(Arc<StreamGuard>);

impl BackgroundShells {
    pub(super) fn new(link: ServerLink) -> Self {
        Self { link }
    }

    /// Starts a shell and returns its id. Fails with `Unavailable` without the process, otherwise if the program does not
    /// start.
    pub fn start(&self, launch: ShellLaunch) -> BoxFuture<'static, Result<String, Error>> {
        self.link.ask(ServiceRequest::StartShell(Box::new(launch)))
    }

    /// Returns the living shells of a window's folder. Does not start the process.
    pub fn list(&self, root: Option<AbsPath>) -> BoxFuture<'static, Vec<KeptShell>> {
        let (guard, mut items) = self.link.open(StreamRequest::Shells(root));
        async move {
            let first = items.next().await;
            drop(guard);
            match first {
                Some(StreamItem::Shells(shells)) => shells,
                _ => Vec::new(),
            }
        }
        .boxed()
    }

    /// Attaches to a shell. Returns `None` if it ended long ago or another run of the process had it. Fails without the
    /// process.
    pub fn attach(&self, id: String) -> BoxFuture<'static, Result<Option<ShellConnection>, Error>> {
        let (guard, mut items) = self.link.open(StreamRequest::Shell(id, 0));
        async move {
            match items.next().await {
                Some(StreamItem::Shell(ShellEvent::Attached {
                    has_ended,
                    restored,
                    nonce,
                })) => Ok(Some(ShellConnection {
                    sender: ShellSender(guard),
                    items,
                    has_ended,
                    restored,
                    nonce,
                })),
                Some(StreamItem::Failed(failure)) => Err(failure.into()),
                _ => Ok(None),
            }
        }
        .boxed()
    }

    /// Ends a shell. The result says whether the process got the request.
    pub fn end(&self, id: String) -> BoxFuture<'static, Result<(), Error>> {
        self.link.ask(ServiceRequest::EndShell(id))
    }
}

impl ShellConnection {
    /// Returns the way of inputs into the shell.
    pub fn sender(&self) -> ShellSender {
        self.sender.clone()
    }

    /// Calls `note` with each event, on a thread of the connection. Ends with `Ended`, or when all other senders are
    /// dropped.
    pub fn follow(self, mut note: impl FnMut(ShellEvent) + Send + 'static) {
        let Self {
            sender, mut items, ..
        } = self;
        let reader: Weak<StreamGuard> = Arc::downgrade(&sender.0);
        let follow = async move {
            while let Some(item) = items.next().await {
                let StreamItem::Shell(event) = item else {
                    break;
                };
                let is_end = matches!(event, ShellEvent::Ended(_));
                let read = match &event {
                    ShellEvent::Output { offset, bytes, .. } => Some(offset + bytes.len() as u64),
                    _ => None,
                };
                note(event);
                if is_end {
                    return;
                }
                if let (Some(read), Some(guard)) = (read, reader.upgrade()) {
                    guard.send(StreamCommand::Read(read));
                }
            }
            // Without an end the shell is not reached any more.
            note(ShellEvent::Ended(None));
        };
        sender.0.spawn(follow);
    }
}

impl ShellSender {
    /// Sends an input without blocking.
    pub fn send(&self, input: ShellInput) {
        self.0.send(StreamCommand::Shell(input));
    }
}
