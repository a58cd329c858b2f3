//! Pauses and resumes the frames of an X11 window.

use std::cell::OnceCell;
use std::rc::Rc;

use x11rb::connection::Connection as _;
use x11rb::errors::ConnectionError;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, VISIBILITY_NOTIFY_EVENT, Visibility, VisibilityNotifyEvent,
};
use x11rb::rust_connection::RustConnection;

use crate::pacer::FrameSource;

/// A separate connection to the X server, opened when the first window pauses; `None` if that
/// fails.
#[derive(Default)]
pub(crate) struct XConnection(OnceCell<Option<RustConnection>>);

impl XConnection {
    /// Returns the connection, opened on the first call. Returns `None` if that call failed; it
    /// logs the reason, and no later call tries again.
    fn connection(&self) -> Option<&RustConnection> {
        self.0
            .get_or_init(|| match x11rb::connect(None) {
                Ok((connection, _)) => Some(connection),
                Err(error) => {
                    log::warn!("cannot pause window frames: {error}");
                    None
                }
            })
            .as_ref()
    }
}

/// The toolkit's frame timer of one X11 window.
///
/// The toolkit stops that timer when the server reports the window as covered, starts it at once
/// when the server reports it as uncovered (`VisibilityNotify`, X11 protocol, section 10), and
/// offers no other control. This type therefore sends such events, which only the window's own
/// client receives.
pub(crate) struct FrameTimer {
    pub(crate) server: Rc<XConnection>,
    pub(crate) window: u32,
}

impl FrameTimer {
    /// Reports the window to the toolkit as covered or not. Returns `false` if the event could not
    /// be sent, and logs the reason.
    fn send_visibility(&self, state: Visibility) -> bool {
        let Some(connection) = self.server.connection() else {
            return false;
        };
        let said = self.send(connection, state);
        if let Err(error) = &said {
            log::warn!("cannot send an event to the X server: {error}");
        }
        said.is_ok()
    }

    /// Sends the event and discards the events received so far. Returns an error if the connection
    /// to the X server is lost.
    fn send(&self, connection: &RustConnection, state: Visibility) -> Result<(), ConnectionError> {
        // Discards events: the server notifies every client of keyboard changes, which are not used
        // here.
        while connection.poll_for_event()?.is_some() {}
        let event = VisibilityNotifyEvent {
            response_type: VISIBILITY_NOTIFY_EVENT,
            sequence: 0,
            window: self.window,
            state,
        };
        // An event sent with an empty mask goes to the client that created the window.
        connection.send_event(false, self.window, EventMask::NO_EVENT, event)?;
        connection.flush()
    }
}

impl FrameSource for FrameTimer {
    fn pause(&self) -> bool {
        self.send_visibility(Visibility::FULLY_OBSCURED)
    }

    fn resume(&self) {
        self.send_visibility(Visibility::UNOBSCURED);
    }
}
