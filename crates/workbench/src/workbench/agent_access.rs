//! The lists of agents' rights: permissions, MCP servers, trust.
//!
//! Invariant: a question about a text shows all of it, in parts if it is long, before it can be agreed to.

use composer_panel::actions::{ShowMcpServers, ShowPermissions, ShowTrust};
use composer_panel::agents::{AccessChange, SignInStep};
use futures::StreamExt as _;
use gpui_kit::{
    AsyncWindowContext, Context, Div, InteractiveElement as _, Stateful, WeakEntity, Window,
};
use ui::{ButtonStyle, Tone};

use super::Workbench;
use super::agents::show_text;
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::pickers::access_page::rows::{AccessAction, AccessQuestion, PageContext};
use crate::pickers::access_page::{AccessPage, AccessTopic};
use crate::question::QuestionSpec;

/// Key of the notifications of this module.
const NOTICE: &str = "agent access";
/// Maximum number of lines, and of characters, of a part of a text that a question shows.
const PART: (usize, usize) = (14, 700);

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|workbench, _: &ShowPermissions, window, cx| {
            show(workbench, (AccessTopic::Permissions, ""), window, cx);
        }))
        .on_action(cx.listener(|workbench, _: &ShowMcpServers, window, cx| {
            show(workbench, (AccessTopic::Servers, ""), window, cx);
        }))
        .on_action(cx.listener(|workbench, _: &ShowTrust, window, cx| {
            show(workbench, (AccessTopic::Trust, ""), window, cx);
        }))
}

/// Reads the rights of agents in the folder and shows the list of a topic, with a query.
fn show(
    workbench: &mut Workbench,
    (topic, query): (AccessTopic, &str),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (Some(agents), Some(root)) = (workbench.services.agents.clone(), workbench.root(cx)) else {
        return workbench.tell(NOTICE, "Open a folder: agents work in folders", window, cx);
    };
    let context = PageContext {
        permissions: workbench.services.dirs.config.join("permissions.json"),
        now_ms: workbench.services.clock.wall_ms(),
        root: root.clone(),
    };
    let query = query.to_owned();
    let reading = agents.folder_access(root);
    cx.spawn_in(window, async move |this, cx| {
        let access = reading.await;
        let shown = this.update_in(cx, |workbench, window, cx| match access {
            Ok(access) => {
                let page = AccessPage::new(topic, &access, context, agents, cx.weak_entity());
                workbench.pick_with(page, &query, window, cx);
            }
            Err(error) => workbench.report_error(error.to_string(), window, cx),
        });
        // The window may have been closed.
        shown.ok();
    })
    .detach();
}

/// Runs an action of a list that has closed; `reopened` is the topic and the query to show again.
pub(crate) fn run_action(
    workbench: &mut Workbench,
    action: AccessAction,
    reopened: (AccessTopic, &str),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match action {
        AccessAction::Change(_) => {}
        AccessAction::Ask(question) => ask(question, reopened, window, cx),
        AccessAction::SignIn(server) => sign_in(workbench, server, reopened, window, cx),
        AccessAction::OpenFile(path) => {
            workbench.open_path(path, OpenOptions::lasting(), window, cx);
        }
        AccessAction::ShowText(text) => show_text(workbench, &text, "a.log", window, cx),
    }
}

/// Adapts the window to a change of the rights.
pub(crate) fn note_change(
    workbench: &Workbench,
    change: &AccessChange,
    cx: &mut Context<Workbench>,
) {
    let panel = &workbench.agents.local;
    panel.update(cx, |panel, cx| panel.refresh_trust(cx));
    if matches!(change, AccessChange::SetTrusted { .. }) {
        workbench.reload_language_servers(cx);
    }
}

/// Asks about a change, applies it if the user agrees, and shows the list again.
fn ask(
    question: AccessQuestion,
    (topic, query): (AccessTopic, &str),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let query = query.to_owned();
    cx.spawn_in(window, async move |this, cx| {
        if agrees(&this, &question, cx).await {
            let change = question.change;
            let begun = this.update(cx, |workbench, cx| {
                let agents = workbench.services.agents.clone();
                Some(agents?.change_access(workbench.root(cx)?, change.clone()))
            });
            // The window may have been closed.
            let Ok(Some(changing)) = begun else {
                return;
            };
            let changed = changing.await;
            let noted = this.update_in(cx, |workbench, window, cx| match changed {
                Ok(_) => note_change(workbench, &change, cx),
                Err(error) => workbench.report_error(error.to_string(), window, cx),
            });
            noted.ok();
        }
        let shown = this.update_in(cx, |workbench, window, cx| {
            show(workbench, (topic, &query), window, cx);
        });
        shown.ok();
    })
    .detach();
}

/// Shows the whole text of a question, part by part, and returns whether the user agrees at its end.
async fn agrees(
    workbench: &WeakEntity<Workbench>,
    question: &AccessQuestion,
    cx: &mut AsyncWindowContext,
) -> bool {
    let parts = parts(&question.text);
    let last = parts.len().saturating_sub(1);
    for (ix, part) in parts.iter().enumerate() {
        let title = if last == 0 {
            question.title.clone()
        } else {
            format!("{} ({} of {})", question.title, ix + 1, last + 1)
        };
        let agree = if ix == last {
            question.agree
        } else {
            "Show more"
        };
        let spec = QuestionSpec {
            title: title.into(),
            detail: part.clone().into(),
            answers: vec![
                (agree.into(), ButtonStyle::Plain),
                ("Cancel".into(), ButtonStyle::Plain),
            ],
            safest: 1,
        };
        let asked =
            workbench.update_in(cx, |workbench, window, cx| workbench.ask(spec, window, cx));
        let Ok(answer) = asked else {
            return false;
        };
        if !matches!(answer.await, Ok(0)) {
            return false;
        }
    }
    true
}

/// Splits a text into parts that a question shows without scrolling.
fn parts(text: &str) -> Vec<String> {
    let (max_lines, max_chars) = PART;
    let mut parts = vec![String::new()];
    let (mut lines, mut chars) = (0, 0);
    for char in text.chars() {
        if lines >= max_lines || chars >= max_chars {
            parts.push(String::new());
            (lines, chars) = (0, 0);
        }
        if let Some(part) = parts.last_mut() {
            part.push(char);
        }
        chars += 1;
        lines += usize::from(char == '\n');
    }
    parts
}

/// Signs in to a server: asks before it opens a page, reports the result, and shows the list again.
fn sign_in(
    workbench: &Workbench,
    server: String,
    (topic, query): (AccessTopic, &str),
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (Some(agents), Some(root)) = (workbench.services.agents.clone(), workbench.root(cx)) else {
        return;
    };
    let mut steps = agents.sign_in(root, server);
    let query = query.to_owned();
    cx.spawn_in(window, async move |this, cx| {
        while let Some(step) = steps.next().await {
            let notice = match step {
                SignInStep::Page { url, reason } => {
                    if opens(&this, url, &reason, cx).await {
                        continue;
                    }
                    return;
                }
                SignInStep::Done(Ok(sentence)) => Notice::new(Tone::Success, sentence),
                SignInStep::Done(Err(error)) => Notice::new(Tone::Error, error.to_string()),
            };
            let shown = this.update_in(cx, |workbench, window, cx| {
                workbench.report(notice.key(NOTICE), window, cx);
                show(workbench, (topic, &query), window, cx);
            });
            // The window may have been closed.
            shown.ok();
            return;
        }
    })
    .detach();
}

/// Opens a page in the browser if the user agrees; returns whether it is open.
async fn opens(
    workbench: &WeakEntity<Workbench>,
    url: String,
    reason: &str,
    cx: &mut AsyncWindowContext,
) -> bool {
    let spec = QuestionSpec {
        title: "Open this page in your browser?".into(),
        detail: format!("{reason}\n\n{url}").into(),
        answers: vec![
            ("Open".into(), ButtonStyle::Plain),
            ("Cancel".into(), ButtonStyle::Plain),
        ],
        safest: 1,
    };
    let asked = workbench.update_in(cx, |workbench, window, cx| workbench.ask(spec, window, cx));
    let Ok(answer) = asked else {
        return false;
    };
    let is_agreed = matches!(answer.await, Ok(0));
    is_agreed && workbench.update(cx, |_, cx| cx.open_url(&url)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{PART, parts};

    #[test]
    fn parts_are_short_and_leave_nothing_out() {
        let check = |text: &str, count: usize| {
            let parts = parts(text);
            assert_eq!(parts.concat(), text);
            assert_eq!(parts.len(), count, "{parts:?}");
            let is_short =
                |part: &String| part.lines().count() <= PART.0 && part.chars().count() <= PART.1;
            assert!(parts.iter().all(is_short), "{parts:?}");
        };
        check("", 1);
        check("short\ntext", 1);
        check(&"line\n".repeat(PART.0), 1);
        check(&"line\n".repeat(PART.0 + 1), 2);
        check(&"\u{e9}".repeat(2 * PART.1 + 1), 3);
    }
}
