//! Effects of commands: carries out those of the view, and returns the others for the window.
//!
//! Start at `carry_out`.

use caret::find::FindQuery;
use gpui_kit::Context;
use settings::{SoftWrap, Whitespace};
use vim::{Effect, NavigationTarget};

use super::{Editor, VimMessage, folds, scrolling, timing};
use crate::editor::{finding, hunks};

/// Maximum number of steps of one command.
const MAX_STEPS: u32 = 1_000;

/// Carries out the effects that concern the view alone. Returns the others, in order.
pub(super) fn carry_out(
    editor: &mut Editor,
    effects: Vec<Effect>,
    cx: &mut Context<Editor>,
) -> Vec<Effect> {
    let mut others = Vec::new();
    for effect in effects {
        match effect {
            Effect::Bell => {}
            Effect::Message { text, is_error } => say(editor, vec![text], is_error),
            Effect::Listing(lines) => say(editor, lines, false),
            Effect::Scroll(command) => scrolling::scroll(editor, command, cx),
            Effect::Fold(command) => {
                if let Some(message) = folds::carry_out(editor, command, cx) {
                    say(editor, vec![message.to_owned()], true);
                }
            }
            Effect::HighlightSearch(query) => highlight(editor, query, cx),
            Effect::Yanked(spans) => timing::show_yanked(editor, spans, cx),
            Effect::SetOption { name, value } => set_option(editor, name, &value, cx),
            Effect::Navigate {
                target: NavigationTarget::NextChange,
                count,
            } => (0..count.min(MAX_STEPS)).for_each(|_| hunks::go_to_next(editor, cx)),
            Effect::Navigate {
                target: NavigationTarget::PreviousChange,
                count,
            } => (0..count.min(MAX_STEPS)).for_each(|_| hunks::go_to_previous(editor, cx)),
            other => others.push(other),
        }
    }
    others
}

/// Shows a message until the next key; several in one key follow each other.
fn say(editor: &mut Editor, lines: Vec<String>, is_error: bool) {
    let Some(view) = &mut editor.vim else {
        return;
    };
    match &mut view.message {
        Some(message) => {
            message.lines.extend(lines);
            message.is_error |= is_error;
        }
        None => view.message = Some(VimMessage { lines, is_error }),
    }
}

/// Shows the matches of the last search, or none.
fn highlight(editor: &mut Editor, query: Option<FindQuery>, cx: &mut Context<Editor>) {
    // An open find bar shows its own matches.
    if editor.find_session.bar.is_some() {
        return;
    }
    let Some(query) = query else {
        editor.find.set_open(false);
        editor.find_session.search_task = None;
        return;
    };
    let find = &mut editor.find;
    let is_shown = find.is_open()
        && find.matcher().is_some()
        && (find.pattern, find.case, find.words) == (query.pattern, query.case, query.words)
        && find.text == query.text;
    if is_shown {
        return;
    }
    find.set_open(true);
    find.text = query.text;
    find.pattern = query.pattern;
    find.case = query.case;
    find.words = query.words;
    find.compile();
    finding::find_again(editor, cx);
}

fn set_option(editor: &mut Editor, name: &str, value: &str, cx: &mut Context<Editor>) {
    let is_on = |was_on: bool| match value {
        "toggle" => !was_on,
        value => value == "on",
    };
    match name {
        "wrap" => {
            let wraps = is_on(editor.soft_wrap() != SoftWrap::Off);
            let wrap = if wraps {
                SoftWrap::Window
            } else {
                SoftWrap::Off
            };
            editor.overrides.soft_wrap = Some(wrap);
        }
        "list" => {
            let is_shown = is_on(editor.whitespace() == Whitespace::All);
            let whitespace = if is_shown {
                Whitespace::All
            } else {
                Whitespace::None
            };
            editor.overrides.whitespace = Some(whitespace);
            editor.rows.forget_shapes();
        }
        _ => say(
            editor,
            vec![format!("{name} is a setting: see settings.json")],
            true,
        ),
    }
    cx.notify();
}
