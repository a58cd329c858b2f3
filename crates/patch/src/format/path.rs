//! Recognizes paths as models write them: in a heading, in bold, after a fence.

/// Info strings of shell blocks.
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
/// Tags used in place of a fence if the text itself contains fences.
const TAGS: &[&str] = &["source", "code", "pre", "codeblock", "sourcecode"];

/// Parses a fence: at least three backticks or tildes at the start of a line, and the text after
/// them.
pub(super) fn fence(line: &str) -> Option<(char, usize, &str)> {
    let sign = line
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let length = line.len() - rest.len();
    (length >= 3).then_some((sign, length, rest))
}

/// Returns the text after a tag that models write instead of a fence.
fn tag(line: &str) -> Option<&str> {
    let (name, info) = line.strip_prefix('<')?.split_once('>')?;
    TAGS.contains(&name).then_some(info)
}

/// Whether a line opens or closes a block.
pub(super) fn is_fence(line: &str) -> bool {
    let open = line.strip_prefix("</").map(|rest| format!("<{rest}"));
    fence(line).is_some() || tag(open.as_deref().unwrap_or(line)).is_some()
}

/// Returns the path that a line may name, without decoration.
pub(super) fn named_in(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("</") && is_fence(line) {
        return None;
    }
    let info = fence(line).map(|(_, _, info)| info);
    if let Some(info) = info.or_else(|| tag(line)) {
        return in_info(info);
    }
    let bare = undecorated(line);
    let is_elision = bare == "..." || bare.is_empty();
    (!is_elision).then(|| in_sentence(bare).unwrap_or(bare))
}

/// Strips headings, list markers, labels, emphasis, quotes and a trailing colon.
fn undecorated(line: &str) -> &str {
    let mut bare = line;
    loop {
        let before = bare;
        bare = bare.trim().trim_end_matches(':').trim_end();
        bare = bare.trim_start_matches(['#', '>']).trim_start();
        for mark in ["// ", "- ", "* ", "+ ", "<!-- ", "/* "] {
            bare = bare.strip_prefix(mark).unwrap_or(bare);
        }
        for mark in [
            " -->",
            " */",
            " (new file)",
            " (new)",
            " (modified)",
            " (updated)",
        ] {
            bare = bare.strip_suffix(mark).unwrap_or(bare);
        }
        bare = without_number(without_label(bare));
        for mark in ["**", "*", "`", "\"", "'"] {
            let inner = bare
                .strip_prefix(mark)
                .and_then(|bare| bare.strip_suffix(mark));
            bare = inner.unwrap_or(bare);
        }
        bare = bare.trim_matches('`').trim_matches('*');
        if bare == before {
            return bare;
        }
    }
}

/// Returns the text after a label such as `File:`.
fn without_label(line: &str) -> &str {
    let Some((label, rest)) = line.split_once(':') else {
        return line;
    };
    let label = label.trim_matches('*').to_lowercase();
    let is_label = matches!(
        label.as_str(),
        "file" | "filename" | "file name" | "filepath" | "file path" | "path"
    );
    if is_label && !rest.is_empty() {
        rest.trim_start_matches('*').trim_start()
    } else {
        line
    }
}

/// Returns the text after a list number such as `1. `.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let is_number = rest.len() < line.len();
    let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    rest.filter(|_| is_number).unwrap_or(line)
}

/// Returns the path in backticks within a sentence, if there is exactly one.
fn in_sentence(line: &str) -> Option<&str> {
    let mut parts = line.split('`');
    let (Some(_), Some(path), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    is_alone(path).then_some(path)
}

/// Returns the path in an info string: `src/a.rs`, `rust src/a.rs`, `rust:src/a.rs`.
fn in_info(info: &str) -> Option<&str> {
    let word = info.split_whitespace().next_back()?;
    let word = word.rsplit_once([':', '=']).map_or(word, |(_, path)| path);
    let word = word.trim_matches(['"', '\'']);
    (word.contains('.') || word.contains('/')).then_some(word)
}

/// Whether this may be a path rather than a sentence: it has an extension or contains no spaces.
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

/// Whether this is clearly a path and cannot be a sentence.
pub(super) fn is_alone(path: &str) -> bool {
    let has_mark = path.contains('/') || path.trim_start_matches('.').contains('.');
    has_mark && !path.contains(char::is_whitespace) && !path.ends_with('.')
}

/// Whether an info string marks a block of shell commands.
pub(super) fn is_shell(info: &str) -> bool {
    let info = info.trim_start();
    SHELLS.iter().any(|shell| {
        let rest = info.strip_prefix(shell);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}
