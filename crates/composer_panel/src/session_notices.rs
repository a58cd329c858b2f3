//! Which changes of a session the user is notified of, and how. Pure.
//!
//! Invariant: a notice depends on the change, the visibility, the queue and the settings alone,
//! never on a timer.
//! Start at `session_notice`.

use settings::AgentSettings;

use crate::agents::SessionChangeKind;

/// The visibility of a session to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionVisibility {
    /// Whether the window is the one that the user works in.
    pub is_window_active: bool,
    /// Whether the window's panel is visible and shows the session.
    pub is_shown: bool,
}

/// The ways to notify the user of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionNotice {
    /// The session is marked as unread.
    pub is_unread: bool,
    /// The system shows a notification.
    pub has_notification: bool,
    /// The system's bell rings.
    pub has_sound: bool,
}

/// Returns how to notify the user of a change. A turn that another one follows is no news.
pub fn session_notice(
    change: &SessionChangeKind,
    visibility: SessionVisibility,
    settings: &AgentSettings,
) -> SessionNotice {
    let SessionVisibility {
        is_window_active,
        is_shown,
    } = visibility;
    let is_followed = matches!(
        change,
        SessionChangeKind::Ended {
            is_followed: true,
            ..
        }
    );
    if is_followed || (is_window_active && is_shown) {
        return SessionNotice::default();
    }
    SessionNotice {
        is_unread: !is_shown,
        has_notification: settings.notifications,
        has_sound: settings.sound,
    }
}

#[cfg(test)]
mod tests {
    use agent::record::TurnEnd;

    use super::*;

    #[test]
    fn changes_that_the_user_does_not_see_are_notified() {
        let ended = |is_followed| SessionChangeKind::Ended {
            end: TurnEnd::Done,
            is_followed,
        };
        let waits = SessionChangeKind::Waits("cargo test".to_owned());
        let unread = |has_notification, has_sound| SessionNotice {
            is_unread: true,
            has_notification,
            has_sound,
        };
        let away = SessionNotice {
            is_unread: false,
            has_notification: true,
            has_sound: false,
        };
        let none = SessionNotice::default();
        // Change; window active, session shown; notifications, sound.
        let table = [
            (ended(false), (true, true), (true, true), none),
            (
                ended(false),
                (true, false),
                (true, false),
                unread(true, false),
            ),
            (ended(false), (false, true), (true, false), away),
            (
                ended(false),
                (false, false),
                (true, true),
                unread(true, true),
            ),
            (
                ended(false),
                (true, false),
                (false, false),
                unread(false, false),
            ),
            (
                ended(false),
                (true, false),
                (false, true),
                unread(false, true),
            ),
            (ended(true), (false, false), (true, true), none),
            (ended(true), (true, false), (true, true), none),
            (waits.clone(), (true, true), (true, true), none),
            (
                waits.clone(),
                (true, false),
                (true, false),
                unread(true, false),
            ),
            (waits, (false, true), (true, false), away),
        ];
        for (change, (is_window_active, is_shown), (notifications, sound), expected) in table {
            let visibility = SessionVisibility {
                is_window_active,
                is_shown,
            };
            let settings = AgentSettings {
                notifications,
                sound,
                ..AgentSettings::default()
            };
            let notice = session_notice(&change, visibility, &settings);
            assert_eq!(notice, expected, "{change:?} {visibility:?} {settings:?}");
        }
    }
}
