//! The memory within a stored summary: the text that a model wrote, or the user.
//!
//! Must not know: what else a summary keeps.

const BEGIN: &str = "<memory>\n";
const END: &str = "</memory>\n";

/// Splits a summary into its memory and the text after it; `None` for a text without these parts.
pub(crate) fn split(summary: &str) -> Option<(&str, &str)> {
    let (_, text) = summary.split_once(BEGIN)?;
    text.split_once(END)
}

/// Returns a stored summary with another memory; everything else stays byte for byte.
pub(crate) fn with_memory(summary: &str, memory: &str) -> String {
    // The memory ends at the first such tag.
    let memory = memory.replace(END.trim_end(), "</ memory>");
    let memory = memory.trim_end();
    match split(summary) {
        Some((_, rest)) => {
            let head = summary.split(BEGIN).next().unwrap_or_default();
            format!("{head}{BEGIN}{memory}\n{END}{rest}")
        }
        None => memory.to_owned(),
    }
}
