//! Text that cannot speak for the prompt around it.

use std::borrow::Cow;

use crate::context::Context;

/// Whether a text holds one of a model's control tokens.
pub(super) fn holds(text: &str, tokens: &[&str]) -> bool {
    tokens.iter().any(|token| text.contains(token))
}

/// A text in which every control token is broken by a space behind its first letter.
pub fn harmless<'a>(text: &'a str, tokens: &[&str]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for token in tokens {
        if text.contains(token) {
            let mut letters = token.chars();
            let first = letters.next().unwrap_or(' ');
            text = Cow::Owned(text.replace(token, &format!("{first} {}", letters.as_str())));
        }
    }
    text
}

/// A context whose shown parts are harmless. The part that may be rewritten is left as it is: what a model writes
/// back must be the person's text, not what we made of it.
pub(super) fn guarded(context: &Context, tokens: &[&str]) -> Context {
    let mut safe = context.clone();
    let make = |text: &mut String| {
        if let Cow::Owned(broken) = harmless(text, tokens) {
            *text = broken;
        }
    };
    make(&mut safe.path);
    make(&mut safe.project);
    for edit in &mut safe.edits {
        make(&mut edit.path);
        make(&mut edit.diff);
        make(&mut edit.old);
        make(&mut edit.new);
    }
    for file in &mut safe.files {
        make(&mut file.path);
        make(&mut file.text);
    }
    for diagnostic in &mut safe.diagnostics {
        make(&mut diagnostic.message);
    }
    if let Some(before) = &mut safe.window.before {
        make(before);
    }
    let window = &mut safe.window;
    let (above, below) = (
        harmless(window.above(), tokens),
        harmless(window.below(), tokens),
    );
    let grown = above.len() - window.editable.start;
    let text = format!("{above}{}{below}", window.region());
    window.text = text;
    window.editable = window.editable.start + grown..window.editable.end + grown;
    window.caret += grown;
    safe
}

#[cfg(test)]
mod tests;
