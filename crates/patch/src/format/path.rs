//! Paths as models write them: in a heading, in bold, behind a fence.

/// What follows the fence of a shell block.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "shell",
    "cmd",
    "batch",
    "powershell",
    "ps1",
    "zsh",
    "fish",
    "ksh",
    "csh",
    "tcsh",
];
/// Tags that take the place of a fence where the text has fences of its own.
const TAGS: &[&str] = &["source", "code", "pre", "codeblock", "sourcecode"];

/// The run of backticks or tildes, at least three, that a line begins with, and what follows it.
pub(super) fn fence(line: &str) -> Option<(char, usize, &str)> {
    let sign = line
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let length = line.len() - rest.len();
    (length >= 3).then_some((sign, length, rest))
}

/// What follows a tag that models write instead of a fence.
fn tag(line: &str) -> Option<&str> {
    let (name, info) = line.strip_prefix('<')?.split_once('>')?;
    TAGS.contains(&name).then_some(info)
}

/// Whether a line opens or closes a block.
pub(super) fn is_fence(line: &str) -> bool {
    let open = line.strip_prefix("</").map(|rest| format!("<{rest}"));
    fence(line).is_some() || tag(open.as_deref().unwrap_or(line)).is_some()
}

/// The path that a line names, if it can name one: decoration around it is taken off.
pub(super) fn named_in(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("</") && is_fence(line) {
        return None;
    }
    let info = fence(line).map(|(_, _, info)| info);
    if let Some(info) = info.or_else(|| tag(line)) {
        return in_info(info);
    }
    let bare = line
        .trim_end_matches(':')
        .trim_start_matches('#')
        .trim()
        .trim_matches('`')
        .trim_matches('*')
        .trim_matches('`');
    let is_elision = bare == "..." || bare.is_empty();
    (!is_elision).then_some(bare)
}

/// The path in what follows a fence: `src/a.rs`, `rust src/a.rs`, `rust:src/a.rs`.
fn in_info(info: &str) -> Option<&str> {
    let word = info.split_whitespace().next_back()?;
    let word = word.rsplit_once([':', '=']).map_or(word, |(_, path)| path);
    let word = word.trim_matches(['"', '\'']);
    (word.contains('.') || word.contains('/')).then_some(word)
}

/// Whether this may be a path rather than a sentence: it has a folder, an extension, or is a word.
pub(super) fn is_plausible(path: &str) -> bool {
    let has_space = path.contains(char::is_whitespace);
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    let has_extension = extension.is_some_and(|extension| {
        !extension.is_empty()
            && extension
                .chars()
                .all(|sign| sign.is_alphanumeric() || sign == '_')
    });
    !path.is_empty() && (!has_space || has_extension)
}

/// Whether what follows a fence says that shell commands come.
pub(super) fn is_shell(info: &str) -> bool {
    let info = info.trim_start();
    SHELLS.iter().any(|shell| {
        let rest = info.strip_prefix(shell);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}
