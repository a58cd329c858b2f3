//! How the frames of an X11 window are stopped and asked for again.

use std::cell::OnceCell;
use std::rc::Rc;

use x11rb::connection::Connection as _;
use x11rb::errors::ConnectionError;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, VISIBILITY_NOTIFY_EVENT, Visibility, VisibilityNotifyEvent,
};
use x11rb::rust_connection::RustConnection;

use crate::pacer::Source;

/// A connection of our own to the X server, made when the first window rests; none where that
/// fails.
#[derive(Default)]
pub(crate) struct Server(OnceCell<Option<RustConnection>>);

impl Server {
    fn connection(&self) -> Option<&RustConnection> {
        self.0
            .get_or_init(|| match x11rb::connect(None) {
                Ok((connection, _)) => Some(connection),
                Err(error) => {
                    log::warn!("windows ask for frames all the time: {error}");
                    None
                }
            })
            .as_ref()
    }
}

/// The toolkit's frame timer of one X11 window.
///
/// The toolkit stops that timer when the server says that the window is covered and starts it, at
/// once, when it says that the window is free (`VisibilityNotify`, X11 protocol, section 10), and
/// has no other way to be told. So that is what we say, in an event that the window's own client
/// gets and nobody else.
pub(crate) struct FrameTimer {
    pub(crate) server: Rc<Server>,
    pub(crate) window: u32,
}

impl FrameTimer {
    fn say(&self, state: Visibility) -> bool {
        let Some(connection) = self.server.connection() else {
            return false;
        };
        let said = self.send(connection, state);
        if let Err(error) = &said {
            log::warn!("the X server did not take an event: {error}");
        }
        said.is_ok()
    }

    fn send(&self, connection: &RustConnection, state: Visibility) -> Result<(), ConnectionError> {
        // The server tells every client of changed keyboards; nobody here reads of them.
        while connection.poll_for_event()?.is_some() {}
        let event = VisibilityNotifyEvent {
            response_type: VISIBILITY_NOTIFY_EVENT,
            sequence: 0,
            window: self.window,
            state,
        };
        // With no mask an event goes to the client that made the window.
        connection.send_event(false, self.window, EventMask::NO_EVENT, event)?;
        connection.flush()
    }
}

impl Source for FrameTimer {
    fn rest(&self) -> bool {
        self.say(Visibility::FULLY_OBSCURED)
    }

    fn resume(&self) {
        self.say(Visibility::UNOBSCURED);
    }
}
