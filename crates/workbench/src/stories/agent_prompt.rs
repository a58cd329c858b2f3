//! The prompt box of the agent panel: its queue, its drafts and earlier prompts.

use agent::record::{Delivery, QueueChange, QueuedPrompt, TurnEnd};
use agent::session::QueueCommand;
use agent::{AgentEvent, SessionCommand, SessionRecord};
use composer_panel::actions::NewSession;
use composer_panel::agents::{FakeAgents, NamedContext};
use gpui_kit::test::{ElementSnapshot, TestQueryExt as _, TestWindowExt as _};
use gpui_kit::{ClipboardItem, Role, TestAppContext, px, size};

use super::agents::{open, recorded, said, text, until_permission};
use super::{Story, path};

fn queued(change: QueueChange) -> AgentEvent {
    recorded(SessionRecord::Queued { change })
}

fn added(id: u64, said: &str) -> AgentEvent {
    let entry = QueuedPrompt {
        id,
        parts: vec![text(said)],
        delivery: Delivery::NextTurn,
    };
    queued(QueueChange::Added { entry })
}

fn taken(fake: &FakeAgents) -> Vec<QueueCommand> {
    let commands = fake.take_commands().into_iter();
    commands
        .map(|command| match command {
            SessionCommand::Queue(command) => command,
            other => panic!("not for the queue: {other:?}"),
        })
        .collect()
}

/// A session whose turn runs, with these messages in its queue.
fn working(waiting: &[&str], cx: &mut TestAppContext) -> (Story, FakeAgents) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("fix it").keys("enter");
    for event in until_permission().into_iter().take(3) {
        fake.send_event(event);
    }
    for (id, said) in (1..).zip(waiting) {
        fake.send_event(added(id, said));
    }
    story.settle();
    fake.take_commands();
    (story, fake)
}

/// The text in the prompt box, by copying all of it.
pub(super) fn shown(story: &mut Story) -> String {
    let none = ClipboardItem::new_string(String::new());
    story.cx.write_to_clipboard(none);
    story.keys("ctrl-a ctrl-c ctrl-end");
    let copied = story.cx.read_from_clipboard();
    copied.and_then(|it| it.text()).unwrap_or_default()
}

#[gpui_kit::test]
fn a_prompt_is_queued_until_the_turn_ends(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&[], cx);
    story.input("and the docs").keys("alt-enter");
    let prompt = said("and the docs");
    let delivery = Delivery::NextTurn;
    assert_eq!(taken(&fake), [QueueCommand::Add { prompt, delivery }]);
    assert_eq!(shown(&mut story), "");
}

#[gpui_kit::test]
fn up_in_an_empty_prompt_takes_the_last_message_back(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&["one", "two"], cx);
    story.keys("up");
    assert_eq!(taken(&fake), [QueueCommand::Remove(2)]);
    // It is in the box once it has left the queue.
    assert_eq!(shown(&mut story), "");
    fake.send_event(queued(QueueChange::Removed { id: 2 }));
    story.settle();
    assert_eq!(shown(&mut story), "two");
    // One that is sent first does not come back.
    story.keys("ctrl-a backspace up");
    assert_eq!(taken(&fake), [QueueCommand::Remove(1)]);
    fake.send_event(queued(QueueChange::Sent { id: 1 }));
    story.settle();
    assert_eq!(shown(&mut story), "");
}

#[gpui_kit::test]
fn queued_messages_are_moved_removed_and_sent_by_keyboard(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&["one", "two", "three"], cx);
    story.keys("alt-q alt-down");
    let before = Some(3);
    assert_eq!(taken(&fake), [QueueCommand::Move { id: 1, before }]);
    fake.send_event(queued(QueueChange::Moved { id: 1, before }));
    story.settle();
    story.keys("alt-up");
    let before = Some(2);
    assert_eq!(taken(&fake), [QueueCommand::Move { id: 1, before }]);
    story.keys("down ctrl-enter");
    assert_eq!(taken(&fake), [QueueCommand::SendNow(3)]);
    story.keys("delete");
    assert_eq!(taken(&fake), [QueueCommand::Remove(3)]);
    fake.send_event(queued(QueueChange::Removed { id: 3 }));
    story.settle();
    story.keys("enter");
    assert_eq!(taken(&fake), [QueueCommand::Remove(1)]);
    fake.send_event(queued(QueueChange::Removed { id: 1 }));
    story.settle();
    // The message is in the box, which has the focus.
    story.input("!");
    assert_eq!(shown(&mut story), "one!");
}

#[gpui_kit::test]
fn a_held_queue_says_so_and_waits_for_the_user(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&["one"], cx);
    let is_held = |story: &mut Story| {
        let names = super::a11y::names(story, "a prompt");
        names.iter().any(|name| name.contains("Send all"))
    };
    assert!(!is_held(&mut story));
    fake.send_event(queued(QueueChange::Held));
    fake.send_event(recorded(SessionRecord::TurnEnded {
        turn: 1,
        end: TurnEnd::Stopped,
    }));
    fake.send_event(AgentEvent::Idle(TurnEnd::Stopped));
    story.settle();
    assert!(is_held(&mut story));
    assert_eq!(taken(&fake), []);
    story.keys("alt-q s");
    assert_eq!(taken(&fake), [QueueCommand::Release]);
}

#[gpui_kit::test]
fn earlier_prompts_are_recalled_and_the_draft_returns(cx: &mut TestAppContext) {
    let (mut story, _fake) = working(&[], cx);
    story.input("and the docs").keys("enter");
    story.input("a draft").keys("up");
    assert_eq!(shown(&mut story), "and the docs");
    story.keys("up up");
    assert_eq!(shown(&mut story), "fix it");
    story.keys("down down");
    assert_eq!(shown(&mut story), "a draft");
    // Within the lines of a prompt, the keys move the caret.
    story
        .keys("end shift-enter")
        .input("two")
        .keys("up")
        .input("_");
    assert_eq!(shown(&mut story), "a d_raft\ntwo");
}

#[gpui_kit::test]
fn each_session_keeps_its_draft(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&[], cx);
    story.input("for the session");
    story.act(NewSession);
    assert_eq!(shown(&mut story), "");
    story.input("for a new one");
    story.keys("alt-h").settle();
    story.keys("enter").settle();
    assert_eq!(fake.opened(), ["old"]);
    assert_eq!(shown(&mut story), "");
    // They are stored at once.
    let kept = fake.kept(&path("/p"));
    assert_eq!(kept.drafts["new"].text, "for the session");
    assert_eq!(kept.drafts[""].text, "for a new one");
    assert_eq!(kept.sent, ["fix it"]);
    story.act(NewSession);
    assert_eq!(shown(&mut story), "for a new one");
}

#[gpui_kit::test]
fn a_draft_is_stored_within_a_second_and_restored(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("half a thought");
    let kept = fake.kept(&path("/p"));
    assert_eq!(kept.drafts[""].text, "half a thought");
    // A window that opens later begins with it.
    let panel = story.read(|it, _| it.agents().clone());
    story.cx.update(|window, cx| {
        panel.update(cx, |panel, cx| {
            panel.set_root(None, window, cx);
            panel.set_root(Some(path("/p")), window, cx);
        });
    });
    story.settle();
    assert_eq!(shown(&mut story), "half a thought");
}

/// The names in the list of suggestions.
pub(super) fn suggestions(story: &mut Story) -> Vec<String> {
    let elements = story.cx.update(|window, _| window.elements());
    let rows = elements.iter().filter(|element| {
        let path = format!("{:?}", element.path());
        path.contains("completion") && element.role() == Some(Role::ListBoxOption)
    });
    let label = |element: &ElementSnapshot| element.label().unwrap_or_default().to_owned();
    rows.map(label).collect()
}

#[gpui_kit::test]
fn files_complete_after_an_at_sign(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("look at @mai");
    let found = suggestions(&mut story);
    assert!(found[0].starts_with("main.rs, "), "{found:?}");
    // Enter accepts the file and sends nothing.
    story.keys("enter");
    assert_eq!(suggestions(&mut story), [] as [&str; 0]);
    assert!(fake.started().is_empty());
    assert_eq!(shown(&mut story), "look at @src/main.rs ");
    story
        .input("@mai")
        .keys("tab")
        .input("please")
        .keys("enter");
    story.settle();
    let prompt = said("look at @src/main.rs @src/main.rs please");
    assert_eq!(fake.take_commands(), [SessionCommand::Prompt(prompt)]);
}

#[gpui_kit::test]
fn escape_closes_only_the_list(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("@mai").keys("escape");
    assert_eq!(suggestions(&mut story), [] as [&str; 0]);
    // It stays closed for this word, and the prompt keeps the focus.
    story.input("n");
    assert_eq!(suggestions(&mut story), [] as [&str; 0]);
    story.input(" @lib");
    assert!(!suggestions(&mut story).is_empty());
    story.keys("escape enter");
    story.settle();
    let prompt = said("@main @lib");
    assert_eq!(fake.take_commands(), [SessionCommand::Prompt(prompt)]);
}

#[gpui_kit::test]
fn lines_changes_rules_and_skills_complete(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    let named = |name: &str, is_skill| NamedContext {
        name: name.to_owned(),
        about: "on request".to_owned(),
        is_skill,
    };
    fake.set_named_context(vec![named("style", false), named("tidy", true)]);
    story.keys("ctrl-alt-i").input("@main.rs:3-9").keys("enter");
    assert_eq!(shown(&mut story), "@src/main.rs:3-9 ");
    story.input("@chan").keys("enter");
    assert_eq!(shown(&mut story), "@src/main.rs:3-9 @changes ");
    story
        .input("@sty")
        .keys("enter")
        .input("@tid")
        .keys("enter");
    let all = "@src/main.rs:3-9 @changes @style @tidy ";
    assert_eq!(shown(&mut story), all);
}

#[gpui_kit::test]
fn the_list_is_used_with_arrows_and_mouse(cx: &mut TestAppContext) {
    let (mut story, _fake) = open(cx);
    story.keys("ctrl-alt-i").input("@rs");
    let found = suggestions(&mut story);
    assert!(found.len() > 1, "{found:?}");
    let name = |row: &str| row.split(", ").next().unwrap_or_default().to_owned();
    story.keys("down enter");
    assert!(shown(&mut story).contains(&name(&found[1])));
    story.keys("ctrl-a backspace").input("@rs");
    story
        .cx
        .update(|window, cx| window.click(("completion", 0_usize), cx));
    story.settle();
    assert!(shown(&mut story).contains(&name(&found[0])));
}

#[gpui_kit::test]
fn commands_complete_after_a_slash(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&[], cx);
    story.input("/comp").keys("enter");
    assert_eq!(fake.take_commands(), [SessionCommand::Compact]);
    assert_eq!(shown(&mut story), "");
    story.input("/new").keys("enter");
    assert!(story.read(|it, cx| it.agents().read(cx).transcript().is_none()));
    // Elsewhere a slash is a slash.
    story.input("and/or");
    assert_eq!(suggestions(&mut story), [] as [&str; 0]);
}

/// A PNG file of 2 by 1 pixels.
fn tiny_png() -> Vec<u8> {
    let image = image::RgbImage::from_pixel(2, 1, image::Rgb([200, 30, 30]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    image
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("encoded");
    bytes.into_inner()
}

fn paste_image(story: &mut Story) {
    let image = gpui_kit::Image::from_bytes(gpui_kit::ImageFormat::Png, tiny_png());
    story
        .cx
        .write_to_clipboard(ClipboardItem::new_image(&image));
    story.keys("ctrl-v");
    story.settle();
}

fn image_chips(story: &mut Story) -> Vec<String> {
    let all = super::a11y::names(story, "a prompt with images");
    all.into_iter().filter(|it| it.contains(" KB")).collect()
}

#[gpui_kit::test]
fn a_pasted_image_is_sent_and_comes_back(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    story.keys("ctrl-alt-i").input("see");
    paste_image(&mut story);
    assert_eq!(image_chips(&mut story), ["Pasted image, 2\u{d7}1, 1 KB"]);
    story.keys("enter");
    story.settle();
    let sent = fake.take_commands().pop();
    let Some(SessionCommand::Prompt(prompt)) = sent else {
        panic!("no prompt was sent, but {sent:?}");
    };
    assert_eq!((prompt.text.as_str(), prompt.images.len()), ("see", 1));
    assert_eq!(image_chips(&mut story), [] as [&str; 0]);
    fake.send_event(AgentEvent::GivenBack(prompt));
    story.settle();
    assert_eq!(image_chips(&mut story), ["Image, 2\u{d7}1, 1 KB"]);
    // It is stored with the draft.
    let kept = fake.kept(&path("/p"));
    assert_eq!(kept.drafts["new"].images.len(), 1);
}

#[gpui_kit::test]
fn a_model_without_image_input_says_so_before_sending(cx: &mut TestAppContext) {
    let (mut story, fake) = open(cx);
    fake.set_blind("local/coder");
    story.keys("ctrl-alt-i").input("see");
    paste_image(&mut story);
    story.keys("enter");
    story.settle();
    assert!(fake.started().is_empty());
    let all = super::a11y::names(&mut story, "a refused image");
    let says = |name: &String| name.contains("local/coder takes no images");
    assert!(all.iter().any(says), "{all:?}");
    story
        .cx
        .update(|window, cx| window.click(("image-remove", 1_u64), cx));
    story.settle();
    let panel = story.read(|it, _| it.agents().clone());
    story
        .cx
        .update(|window, cx| panel.update(cx, |it, cx| it.focus_prompt(window, cx)));
    story.keys("enter");
    story.settle();
    assert_eq!(fake.take_commands(), [SessionCommand::Prompt(said("see"))]);
}

#[gpui_kit::test]
fn the_queue_stays_in_sight_in_a_low_window(cx: &mut TestAppContext) {
    let (mut story, fake) = working(&["one", "two"], cx);
    story.cx.simulate_resize(size(px(920.0), px(560.0)));
    for event in until_permission().into_iter().skip(3) {
        fake.send_event(event);
    }
    story.settle();
    let (queue, prompt) = story.cx.update(|window, _| {
        let bounds = |label: &str| window.find_by_label(label).bounds();
        (bounds("Queued messages"), bounds("Prompt"))
    });
    assert!(queue.size.height > px(20.0), "{queue:?}");
    assert!(queue.bottom() <= prompt.top(), "{queue:?} {prompt:?}");
}
