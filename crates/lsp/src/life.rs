//! The phases of a connection, and the messages that may be sent in each.
//!
//! Must not know: clocks and threads.

/// A phase of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was sent yet.
    #[default]
    Connected,
    /// `initialize` was sent and is not answered.
    Initializing,
    /// `initialize` was answered and `initialized` was sent.
    Running,
    /// `shutdown` was sent.
    ShuttingDown,
    /// `exit` was sent, or the connection has ended.
    Exited,
}

/// A kind of message to a server, as far as the phases distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutgoingKind {
    /// `initialize`.
    Initialize,
    /// `shutdown`.
    Shutdown,
    /// `exit`.
    Exit,
    /// The answer to a request of the server.
    Response,
    /// Any other request or notification.
    Other,
}

impl Phase {
    /// Returns whether a message may be sent in this phase.
    pub(crate) fn allows(self, kind: OutgoingKind) -> bool {
        match kind {
            OutgoingKind::Initialize => self == Self::Connected,
            OutgoingKind::Shutdown | OutgoingKind::Other => self == Self::Running,
            // A server that failed to initialize is asked to exit as well.
            OutgoingKind::Exit => self != Self::Exited,
            OutgoingKind::Response => !matches!(self, Self::Connected | Self::Exited),
        }
    }

    /// Returns the phase after a message was sent that `allows` permits.
    pub(crate) fn after(self, kind: OutgoingKind) -> Self {
        match kind {
            OutgoingKind::Initialize => Self::Initializing,
            OutgoingKind::Shutdown => Self::ShuttingDown,
            OutgoingKind::Exit => Self::Exited,
            OutgoingKind::Response | OutgoingKind::Other => self,
        }
    }
}
