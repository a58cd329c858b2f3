//! The words of messages by which users show what they think of a turn.

use std::collections::BTreeSet;

/// Beginnings of a message that objects.
const OBJECTING_STARTS: &[&str] = &[
    "no,",
    "no.",
    "no!",
    "no that",
    "no, that",
    "nope",
    "nein,",
    "nein.",
    "nein!",
    "nein das",
    "wrong",
    "falsch",
    "that's wrong",
    "that is wrong",
    "das ist falsch",
    "das stimmt nicht",
    "das war falsch",
    "stop",
];

/// Phrases that object wherever they occur.
const OBJECTIONS: &[&str] = &[
    "still fails",
    "still failing",
    "still broken",
    "still wrong",
    "still doesn't",
    "still does not",
    "still don't",
    "still not working",
    "still get",
    "still getting",
    "still the same",
    "still see",
    "still crashes",
    "still an error",
    "doesn't work",
    "does not work",
    "didn't work",
    "did not work",
    "not working",
    "doesn't compile",
    "does not compile",
    "doesn't build",
    "you broke",
    "this broke",
    "it broke",
    "that broke",
    "you removed",
    "you deleted",
    "you forgot",
    "you missed",
    "you ignored",
    "why did you",
    "why do you keep",
    "i said",
    "i told you",
    "i asked you not",
    "not what i",
    "isn't what i",
    "that's not right",
    "that is not right",
    "that's not it",
    "that's incorrect",
    "is incorrect",
    "is wrong",
    "are wrong",
    "was wrong",
    "revert that",
    "revert this",
    "revert the",
    "revert it",
    "revert your",
    "undo that",
    "undo this",
    "undo your",
    "undo the",
    "undo it",
    "roll back",
    "put it back",
    "change it back",
    "try again",
    "do it again",
    "once again",
    "worse than",
    "even worse",
    "makes no sense",
    "made it worse",
    "geht nicht",
    "geht immer noch nicht",
    "funktioniert nicht",
    "funktioniert immer noch nicht",
    "immer noch nicht",
    "immer noch falsch",
    "immer noch kaputt",
    "schon wieder",
    "ist falsch",
    "war falsch",
    "stimmt nicht",
    "ist kaputt",
    "hast du vergessen",
    "du hast vergessen",
    "warum hast du",
    "mach das rückgängig",
    "rückgängig machen",
    "nimm das zurück",
    "nochmal versuchen",
    "versuch es nochmal",
    "kompiliert nicht",
    "nicht das, was",
    "so nicht",
];

/// Phrases that contain an objection and are none.
const NO_OBJECTIONS: &[&str] = &[
    "if it doesn't work",
    "if this doesn't work",
    "if that doesn't work",
    "in case it doesn't work",
    "find out why",
    "find what",
    "is wrong with the",
    "what is wrong",
    "what's wrong",
    "whether",
    "falls es nicht",
    "wenn es nicht",
    "finde heraus",
    "handle the case",
    "should fail",
];

/// Beginnings of a message that praises.
const PRAISING_STARTS: &[&str] = &[
    "thanks",
    "thank you",
    "thx",
    "perfect",
    "great",
    "excellent",
    "awesome",
    "nice",
    "lovely",
    "brilliant",
    "good job",
    "well done",
    "looks good",
    "lgtm",
    "love it",
    "that works",
    "it works",
    "works now",
    "works great",
    "works perfectly",
    "danke",
    "perfekt",
    "super",
    "klasse",
    "prima",
    "sehr gut",
    "sehr schön",
    "passt",
    "gut gemacht",
    "das funktioniert",
    "es funktioniert",
    "funktioniert jetzt",
    "top",
];

/// Words after praise that take it back.
const RESERVATIONS: &[&str] = &[
    "but",
    "however",
    "except",
    "although",
    "though",
    "aber",
    "jedoch",
    "allerdings",
    "nur",
    "not",
    "nicht",
    "isn't",
    "doesn't",
    "n't",
];

/// Beginnings of a message that accepts the work.
const ACCEPTING_STARTS: &[&str] = &[
    "commit",
    "push",
    "merge",
    "ship it",
    "land it",
    "land this",
    "go ahead and commit",
    "please commit",
    "now commit",
    "ok commit",
    "okay commit",
    "open a pr",
    "open a pull request",
    "create a pr",
    "create a pull request",
    "make a pr",
    "committe",
    "bitte committen",
    "bitte commit",
    "jetzt committen",
    "pushe",
];

/// Verbs with which a request begins.
const REQUESTS: &[&str] = &[
    "add",
    "write",
    "create",
    "implement",
    "refactor",
    "rename",
    "update",
    "fix",
    "remove",
    "delete",
    "move",
    "extract",
    "document",
    "test",
    "explain",
    "show",
    "find",
    "list",
    "make",
    "change",
    "replace",
    "convert",
    "generate",
    "build",
    "set",
    "upgrade",
    "bump",
    "improve",
    "optimize",
    "port",
    "split",
    "introduce",
    "support",
    "next",
    "now",
    "füge",
    "schreibe",
    "schreib",
    "erstelle",
    "implementiere",
    "benenne",
    "ändere",
    "entferne",
    "lösche",
    "verschiebe",
    "dokumentiere",
    "erkläre",
    "zeige",
    "finde",
    "mach",
    "baue",
    "ersetze",
    "jetzt",
];

/// Words that refer to something before the message.
const REFERENCES: &[&str] = &[
    "it",
    "its",
    "that",
    "this",
    "these",
    "those",
    "them",
    "they",
    "same",
    "also",
    "too",
    "instead",
    "again",
    "still",
    "above",
    "previous",
    "before",
    "back",
    "so",
    "es",
    "das",
    "dies",
    "diese",
    "dieser",
    "dieses",
    "dort",
    "auch",
    "stattdessen",
    "nochmal",
    "wieder",
    "gleiche",
    "vorherige",
    "oben",
    "noch",
];

/// Words without a topic.
const COMMON: &[&str] = &[
    "the", "and", "for", "with", "from", "into", "onto", "all", "any", "are", "was", "were", "has",
    "have", "had", "not", "you", "your", "our", "please", "can", "could", "would", "should",
    "will", "when", "where", "what", "which", "how", "why", "who", "new", "use", "using", "used",
    "file", "files", "code", "line", "lines", "function", "method", "class", "type", "src", "lib",
    "main", "let", "der", "die", "den", "dem", "ein", "eine", "einen", "einer", "und", "oder",
    "für", "mit", "von", "bei", "bitte", "kannst", "datei", "funktion", "klasse",
];

/// Returns whether a message contains the output of a failed program.
pub(super) fn has_error(text: &str) -> bool {
    let is_trace = |line: &str| {
        let line = line.trim_start();
        line.starts_with("Traceback (most recent call last)")
            || line.starts_with("thread '") && line.contains("panicked at")
            || line.starts_with("error[E")
            || line.starts_with("error: ")
            || line.starts_with("Error: ")
            || line.starts_with("npm ERR!")
            || line.starts_with("npm error")
            || line.starts_with("FAILED ")
            || line.starts_with("Exception in thread")
            || line.starts_with("panic: ")
            || line.starts_with("fatal: ")
            || line.starts_with("fatal error: ")
            || line.starts_with("Segmentation fault")
            || line.starts_with("AssertionError")
            || line.starts_with("Uncaught ")
            || line.contains("test result: FAILED")
            || is_frame(line)
            || is_compiler_error(line)
            || is_exception(line)
    };
    text.lines().any(is_trace)
}

/// Returns whether a line is a frame of a stack, such as `at f (a.js:1:2)` or `File "a.py", line 1`.
fn is_frame(line: &str) -> bool {
    let has_place = |line: &str| {
        let mut parts = line.rsplit(':');
        let digits = |part: Option<&str>| {
            let part = part.unwrap_or_default().trim_end_matches(')');
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        digits(parts.next())
    };
    line.starts_with("at ") && has_place(line)
        || line.starts_with("File \"") && line.contains("\", line ")
}

/// Returns whether a line is an error of a compiler with its place, such as `a.c:3:5: error: …`.
fn is_compiler_error(line: &str) -> bool {
    let place = line.split_once(": error").map(|(place, _)| place);
    place.is_some_and(|place| {
        place.contains(':') && place.ends_with(|char: char| char.is_ascii_digit())
    })
}

/// Returns whether a line is the name of an exception with its message, such as `TypeError: …`.
fn is_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(": ") else {
        return false;
    };
    let is_name = name
        .chars()
        .all(|char| char.is_alphanumeric() || char == '.' || char == '_');
    is_name
        && (name.ends_with("Error") || name.ends_with("Exception"))
        && name.len() > "Error".len()
}

/// Verbs that accept the work only with an object that refers to it.
const ACCEPTING_VERBS: &[&str] = &["commit", "push", "merge", "committe", "pushe"];

/// The words that may follow them.
const ACCEPTED_OBJECTS: &[&str] = &[
    "it",
    "this",
    "that",
    "these",
    "them",
    "all",
    "everything",
    "changes",
    "and",
    "now",
    "please",
    "to",
    "with",
    "your",
    "das",
    "es",
    "alles",
    "jetzt",
    "und",
    "bitte",
];

/// Returns the message in lower case, with plain apostrophes and single spaces.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether `text` begins with a phrase that ends with a word.
fn starts_with(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let rest = text.strip_prefix(phrase);
        rest.is_some_and(|rest| {
            !rest.starts_with(|char: char| char.is_alphanumeric() || char == '-')
        })
    })
}

/// Returns whether a message objects to the work before it.
pub(super) fn objects(text: &str) -> bool {
    let text = plain(text);
    if NO_OBJECTIONS.iter().any(|phrase| text.contains(phrase)) {
        return false;
    }
    let has = |phrase: &&str| {
        text.match_indices(*phrase).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            before.is_none_or(|char| !char.is_alphanumeric())
        })
    };
    starts_with(&text, OBJECTING_STARTS) || OBJECTIONS.iter().any(has)
}

/// Returns whether a message praises the work without a reservation.
pub(super) fn praises(text: &str) -> bool {
    let text = plain(text);
    let text = text
        .strip_prefix("ok, ")
        .or(text.strip_prefix("ah, "))
        .unwrap_or(&text);
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '\'');
    let is_reserved = words.any(|word| RESERVATIONS.contains(&word) || word.ends_with("n't"));
    starts_with(text, PRAISING_STARTS) && !is_reserved
}

/// Returns whether a message asks to commit or merge the work.
pub(super) fn accepts(text: &str) -> bool {
    let text = plain(text);
    // A longer message may speak about commits as a topic.
    let words = text.split(' ').count();
    let mut parts = text.split(|char: char| !char.is_alphanumeric());
    let is_topic = parts
        .next()
        .is_some_and(|verb| ACCEPTING_VERBS.contains(&verb))
        && parts
            .next()
            .is_some_and(|word| !word.is_empty() && !ACCEPTED_OBJECTS.contains(&word));
    words <= 12 && !is_topic && starts_with(&text, ACCEPTING_STARTS)
}

/// Returns whether a message begins with a request.
pub(super) fn is_request(text: &str) -> bool {
    let text = plain(text);
    let text = text
        .strip_prefix("please ")
        .or(text.strip_prefix("bitte "))
        .unwrap_or(&text);
    starts_with(text, REQUESTS)
}

/// Returns whether a message refers to something before it.
pub(super) fn refers_back(text: &str) -> bool {
    let text = plain(text);
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '\'');
    words.any(|word| REFERENCES.contains(&word))
}

/// Returns the words of a text that tell its topic, in lower case and without a plural's ending.
pub(super) fn content(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split(|char: char| !char.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() >= 3);
    let words = words.filter(|word| !COMMON.contains(word) && !REQUESTS.contains(word));
    words
        .map(|word| word.strip_suffix('s').unwrap_or(word).to_owned())
        .collect()
}
