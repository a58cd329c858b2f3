//! Preparation of pasted text for the program.

use crate::snapshot::TerminalModes;

/// Pasted text, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedPaste {
    /// The bytes for the program.
    pub bytes: Vec<u8>,
    /// The reason to ask the user first, with the text shown; `None` if the text can be sent at once.
    pub risk: Option<PasteRisk>,
    /// The text without what was removed, for the question.
    pub text: String,
}

/// A reason to ask the user before text is pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasteRisk {
    /// The text has several lines, and the program does not tell pastes from typed text: each line may be run.
    ManyLines,
    /// The text has several lines, and the program claims to tell pastes from typed text, but neither is a prompt open nor
    /// the alternate screen shown: any output can make that claim.
    UnconfirmedBrackets,
}

/// Prepares text for the program: removes control characters, converts newlines, and brackets it if the program asked for
/// that.
pub fn prepare_paste(text: &str, modes: &TerminalModes) -> PreparedPaste {
    // ESC could end the brackets early; other control characters could be keys of the program.
    let is_kept = |letter: &char| !letter.is_control() || matches!(letter, '\t' | '\r' | '\n');
    let text: String = text.chars().filter(is_kept).collect();
    let typed = text.replace("\r\n", "\r").replace('\n', "\r");
    let has_lines = typed.trim_end_matches('\r').contains('\r') || typed.ends_with('\r');
    let is_confirmed = modes.is_prompt_open || modes.is_alternate_screen;
    let risk = match (has_lines, modes.is_bracketed_paste) {
        (false, _) => None,
        (true, false) => Some(PasteRisk::ManyLines),
        (true, true) => (!is_confirmed).then_some(PasteRisk::UnconfirmedBrackets),
    };
    let bytes = if modes.is_bracketed_paste {
        format!("\x1b[200~{typed}\x1b[201~").into_bytes()
    } else {
        typed.into_bytes()
    };
    PreparedPaste { bytes, risk, text }
}

#[cfg(test)]
mod tests;
