//! Neutralizes control tokens in text that goes into a prompt.

use std::borrow::Cow;

use crate::context::EditContext;

/// Whether a text contains one of a model's control tokens.
pub(super) fn holds(text: &str, tokens: &[&str]) -> bool {
    tokens.iter().any(|token| text.contains(token))
}

/// Returns the text with every control token in `tokens` broken by a space after its first
/// character, so that the model reads the token as plain text. Borrows the text if it contains no
/// control token.
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

/// Returns the context with control tokens broken in all read-only parts. The editable part stays
/// unchanged, since the model must write back the user's text and not an altered copy.
pub(super) fn guarded(context: &EditContext, tokens: &[&str]) -> EditContext {
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
    if let Some(before) = &mut safe.window.before {
        make(before);
    }
    let window = &mut safe.window;
    let (above, below) = (
        harmless(window.before_region(), tokens),
        harmless(window.after_region(), tokens),
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
