//! Notifications of the system about agents and terminals, shown while none of Burin's windows is active.

use composer_panel::AgentCounts;
use composer_panel::agents::{SessionChangeKind, TurnEnd};
use gpui_kit::{App, EntityId, SystemNotification};
use ui::foreign::one_line;

/// Prefix of the tags, before the number of the window.
const TAG: &str = "agents-";

/// Notifies the user that a session with this title ended a turn or waits.
pub(crate) fn session_changed(
    window: EntityId,
    session: &str,
    change: &SessionChangeKind,
    cx: &App,
) {
    let session = one_line(session.to_owned());
    let (title, body) = match change {
        SessionChangeKind::Waits(call) => (
            format!("\u{201c}{session}\u{201d} waits for you"),
            one_line(call.clone()),
        ),
        SessionChangeKind::Ended {
            end: TurnEnd::Done, ..
        } => (format!("\u{201c}{session}\u{201d} is done"), "".into()),
        SessionChangeKind::Ended { end, .. } => (
            format!("\u{201c}{session}\u{201d} has ended"),
            one_line(end.to_string()),
        ),
    };
    cx.show_system_notification(SystemNotification {
        tag: tag(window).into(),
        title: title.into(),
        body,
        actions: Vec::new(),
    });
}

/// Notifies the user of what a program in a terminal reports.
pub(crate) fn terminal(window: EntityId, title: &str, text: &str, cx: &App) {
    cx.show_system_notification(SystemNotification {
        tag: tag(window).into(),
        title: one_line(title.to_owned()),
        body: one_line(text.to_owned()),
        actions: Vec::new(),
    });
}

/// Notifies the user if an agent on the board of a window began to wait, or the last one ended. `place` names the
/// folder of the window. Returns whether it did.
pub(crate) fn agents_changed(
    window: EntityId,
    place: &str,
    before: AgentCounts,
    now: AgentCounts,
    cx: &App,
) -> bool {
    if cx.active_window().is_some() {
        return false;
    }
    let title = title(before, now);
    if let Some(title) = title {
        cx.show_system_notification(SystemNotification {
            tag: tag(window).into(),
            title: title.into(),
            body: place.to_owned().into(),
            actions: Vec::new(),
        });
    }
    title.is_some()
}

/// Removes the notification of a window that the user looks at.
pub(crate) fn dismiss(window: EntityId, cx: &App) {
    cx.dismiss_system_notification(&tag(window));
}

/// Returns the tag of the notifications about a window.
pub(crate) fn tag(window: EntityId) -> String {
    format!("{TAG}{}", window.as_u64())
}

fn title(before: AgentCounts, now: AgentCounts) -> Option<&'static str> {
    let was_busy = before.working + before.waiting > 0;
    if now.waiting > before.waiting {
        Some("An agent waits for you")
    } else if was_busy && now.working + now.waiting == 0 {
        Some("Agents are done")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use composer_panel::AgentCounts;
    use gpui_kit::{AppContext as _, TestAppContext};

    use super::{agents_changed, dismiss, tag, title};

    fn counts(waiting: usize, working: usize) -> AgentCounts {
        AgentCounts {
            waiting,
            working,
            unread: 0,
        }
    }

    #[test]
    fn waiting_and_the_end_are_worth_a_notification() {
        let check = |before, now, expected: Option<&str>| assert_eq!(title(before, now), expected);
        check(counts(0, 2), counts(1, 1), Some("An agent waits for you"));
        check(counts(1, 1), counts(0, 2), None);
        check(counts(0, 2), counts(0, 1), None);
        check(counts(0, 1), counts(0, 0), Some("Agents are done"));
        check(counts(0, 0), counts(0, 1), None);
        check(counts(0, 0), counts(0, 0), None);
    }

    #[gpui_kit::test]
    fn a_notification_goes_when_its_window_is_looked_at(cx: &mut TestAppContext) {
        let window = cx.update(|cx| {
            gpui_kit::init(cx);
            cx.set_app_identity("test", "Burin");
            let window = cx.new(|_| ()).entity_id();
            agents_changed(window, "project", counts(0, 1), counts(1, 0), cx);
            window
        });
        let shown = cx.shown_system_notifications();
        let shown: Vec<_> = shown
            .iter()
            .map(|it| (it.title.as_ref(), it.body.as_ref()))
            .collect();
        assert_eq!(shown, [("An agent waits for you", "project")]);
        cx.update(|cx| dismiss(window, cx));
        let dismissed = cx.dismissed_system_notifications();
        let dismissed: Vec<&str> = dismissed.iter().map(AsRef::as_ref).collect();
        assert_eq!(dismissed, [tag(window).as_str()]);
    }
}
