//! Paths as a profile writes them: strings, and regular expressions for all spellings of a name.
//!
//! A volume of macOS takes names for the same that differ in case or normal form, and an HFS+ volume
//! also ignores some characters. A pattern matches every name that `base::names::widest_key` maps to
//! the same key; it may match more, but only names with characters outside ASCII.
//! Invariant: a pattern contains no quotation mark, since its notation has no escape for one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use base::AbsPath;
use base::names::{NameRules, widest_key};
use icu_normalizer::ComposingNormalizerBorrowed;

use crate::SandboxError;

/// Maximum length of the patterns of one rule in bytes; the system's compiler refuses more.
pub(super) const MAX_PATTERN_BYTES: usize = 65_535;

/// Anything outside printable ASCII, so also the characters that HFS+ ignores.
const NOISE: &str = "[^ -~]*";

/// Quotes a path as a string of a profile.
pub(super) fn quoted(path: &AbsPath) -> Result<String, SandboxError> {
    let text = plain(path.as_path())?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// Returns a pattern for a folder as it is spelled on the disk, with a slash at the end.
pub(super) fn folder_pattern(folder: &AbsPath) -> Result<String, SandboxError> {
    let mut pattern = String::new();
    for letter in plain(folder.as_path())?.trim_end_matches('/').chars() {
        push_literal(letter, &mut pattern);
    }
    pattern.push('/');
    Ok(pattern)
}

/// Returns a pattern for all spellings of a name, or of a relative path.
pub(super) fn any_spelling(name: &str) -> Result<String, SandboxError> {
    plain(Path::new(name))?;
    let key = widest_key(name.as_bytes());
    let key = String::from_utf8_lossy(&key).into_owned();
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&key);
    let letters: Vec<char> = composed.chars().collect();
    let mut pattern = String::from(NOISE);
    let mut at = 0;
    while at < letters.len() {
        let length = ligature_run(&letters[at..]);
        if letters[at] == '/' {
            pattern.push('/');
        } else if length > 1 {
            push_run(&letters[at..at + length], &mut pattern);
        } else {
            push_letter(letters[at], &mut pattern);
        }
        pattern.push_str(NOISE);
        at += length;
    }
    Ok(pattern)
}

/// Returns the number of letters from the start that ligatures may join; at least 1.
fn ligature_run(letters: &[char]) -> usize {
    let is_joined = |pair: &[char]| {
        matches!(
            pair,
            ['s', 's'] | ['s', 't'] | ['f', 'f'] | ['f', 'i'] | ['f', 'l']
        )
    };
    1 + letters
        .windows(2)
        .take_while(|pair| is_joined(pair))
        .count()
}

/// Appends a pattern for letters that ligatures may join: all of them, or any mixture of them with
/// characters outside ASCII.
fn push_run(run: &[char], pattern: &mut String) {
    let mut letters: Vec<char> = run.to_vec();
    letters.sort_unstable();
    letters.dedup();
    let both = letters
        .iter()
        .flat_map(|letter| [*letter, letter.to_ascii_uppercase()]);
    let class = format!("[{}]", both.collect::<String>());
    pattern.push('(');
    for (ix, letter) in run.iter().enumerate() {
        if ix > 0 {
            pattern.push_str(NOISE);
        }
        push_letter(*letter, pattern);
    }
    pattern.push_str(&format!("|{class}*[^ -~]({class}|[^ -~])*)"));
}

fn push_letter(letter: char, pattern: &mut String) {
    match letter {
        's' => pattern.push_str("([sS]|\u{17f})"),
        'k' => pattern.push_str("([kK]|\u{212a})"),
        'a'..='z' => pattern.push_str(&format!("[{letter}{}]", letter.to_ascii_uppercase())),
        _ if letter.is_ascii() => push_literal(letter, pattern),
        _ => push_foreign(letter, pattern),
    }
}

/// Appends a pattern for a folded and composed letter outside ASCII: every letter that folds to the
/// same key, and its parts one by one, composed as far as wanted.
fn push_foreign(letter: char, pattern: &mut String) {
    let text = letter.to_string();
    let key = String::from_utf8_lossy(&NameRules::FOLDING.key(text.as_bytes())).into_owned();
    let parts: Vec<char> = key.chars().collect();
    let mut choices: Vec<String> = same_key(&key).iter().map(char::to_string).collect();
    for joined in 1..parts.len() {
        let first: String = parts[..joined].iter().collect();
        let first = ComposingNormalizerBorrowed::new_nfc()
            .normalize(&first)
            .into_owned();
        let mut choice = String::new();
        match first.chars().collect::<Vec<_>>()[..] {
            [one] if one != letter => push_letter(one, &mut choice),
            _ => continue,
        }
        for part in &parts[joined..] {
            choice.push_str(NOISE);
            let same = same_key(&part.to_string());
            let same: Vec<String> = same.iter().map(char::to_string).collect();
            choice.push_str(&format!("({})", same.join("|")));
        }
        choices.push(choice);
    }
    pattern.push_str(&format!("({})", choices.join("|")));
}

/// Returns the letters outside ASCII with a key, that letter itself included.
fn same_key(key: &str) -> Vec<char> {
    /// Letters beyond have one spelling each.
    const LAST: char = '\u{1ffff}';
    static BY_KEY: LazyLock<BTreeMap<String, Vec<char>>> = LazyLock::new(|| {
        let mut all: BTreeMap<String, Vec<char>> = BTreeMap::new();
        for letter in '\u{80}'..=LAST {
            let text = letter.to_string();
            let key = NameRules::FOLDING.key(text.as_bytes());
            if *key != *text.as_bytes() {
                let key = String::from_utf8_lossy(&key).into_owned();
                all.entry(key).or_default().push(letter);
            }
        }
        all
    });
    let mut same = BY_KEY.get(key).cloned().unwrap_or_default();
    let mut letters = key.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        same.push(letter);
    }
    same
}

fn push_literal(letter: char, pattern: &mut String) {
    if letter == '"' {
        // The class also matches its two neighbours: rather too much than a mark.
        return pattern.push_str("[!-#]");
    }
    if r".^$*+?()[]{}|\".contains(letter) {
        pattern.push('\\');
    }
    pattern.push(letter);
}

/// Returns a path as text; refuses one that a profile cannot express.
pub(super) fn plain(path: &Path) -> Result<&str, SandboxError> {
    let is_plain = |text: &&str| !text.chars().any(char::is_control);
    let refused = || SandboxError::Policy {
        reason: format!(
            "{:?} cannot be expressed in a macOS sandbox profile, because its name contains a control character or is \
             not UTF-8; rename it",
            path.display().to_string()
        ),
    };
    path.to_str().filter(is_plain).ok_or_else(refused)
}
