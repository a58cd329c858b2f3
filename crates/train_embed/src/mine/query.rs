//! Extracts the first sentence of a documentation as a query.

/// Sentences with fewer words do not describe a function.
const FEWEST_WORDS: usize = 4;
const LONGEST: usize = 200;

/// Beginnings of sentences that do not describe what the function does.
const STRANGERS: &[&str] = &[
    "todo",
    "see ",
    "deprecated",
    "copyright",
    "http",
    "same as",
    "note",
    "warning",
    "eslint",
    "@",
    "\\",
    "license",
    "overrid",
    "inherit",
    "this function is deprecated",
    "internal use",
    "for internal",
    "private",
    "example",
    "usage",
    ">>>",
    "safety",
    "generated",
    "like [",
    "refer to",
    "equivalent to",
];

/// Returns the first sentence of `doc`; `name` serves only to drop that name in front of it, as Go
/// writes it. Returns `None` if the sentence has fewer than `FEWEST_WORDS` words, more than
/// `LONGEST` bytes, too few letters or non-ASCII ones, or begins like one of `STRANGERS`.
pub(super) fn query(doc: &str, name: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for line in doc.lines() {
        let line = bare(line);
        let line = match tag(line) {
            Tag::Text(line) => line,
            Tag::Other if words.is_empty() => continue,
            Tag::Other => break,
        };
        let is_rule = line.chars().all(|letter| !letter.is_alphanumeric());
        if (line.is_empty() || is_rule) && words.is_empty() {
            continue;
        }
        if line.is_empty() || line.starts_with("```") || line.starts_with("# ") || is_rule {
            break;
        }
        words.extend(plain(line).split_whitespace().map(str::to_owned));
    }
    // In Go's convention the sentence begins with the name of the function, which is dropped.
    if words
        .first()
        .is_some_and(|word| word.trim_matches(['`', '*', ':', '(', ')']) == name)
    {
        words.remove(0);
    }
    let sentence = first_sentence(&words);
    let small = sentence.to_ascii_lowercase();
    let letters = sentence.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_good = sentence.split(' ').count() >= FEWEST_WORDS
        && sentence.len() <= LONGEST
        && sentence.is_ascii()
        && letters * 3 > sentence.len() * 2
        && !STRANGERS.iter().any(|stranger| small.starts_with(stranger));
    is_good.then_some(sentence)
}

/// Returns a line without its comment markers.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
    let marks = ["/**", "/*!", "/*", "///", "//!", "//", "**", "*"];
    let line = marks
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line);
    line.strip_prefix('<').unwrap_or(line).trim()
}

enum Tag<'a> {
    Text(&'a str),
    Other,
}

/// Classifies a line: a tag ends the sentence, unless the tag introduces it.
fn tag(line: &str) -> Tag<'_> {
    let Some(rest) = line.strip_prefix(['@', '\\']) else {
        return Tag::Text(line);
    };
    let brings = ["brief ", "description ", "desc ", "summary ", "short "];
    let text = brings.iter().find_map(|word| rest.strip_prefix(word));
    text.map_or(Tag::Other, |text| Tag::Text(text.trim()))
}

/// Returns a line without the markup of links and HTML.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{', '[']) {
        text.push_str(&rest[..at]);
        let (mark, inside) = rest[at..].split_at(1);
        let (kept, after) = match mark {
            "<" => element(inside),
            "{" if inside.starts_with('@') => braced(inside),
            "[" => link(inside),
            _ => (mark, inside),
        };
        text.push_str(kept);
        rest = after;
    }
    text.push_str(rest);
    text.replace('`', "")
}

/// Drops an HTML element such as `<b>`; keeps the `<` of `a < b`.
fn element(inside: &str) -> (&str, &str) {
    match inside.find('>') {
        Some(end)
            if end < 12
                && inside
                    .starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/') =>
        {
            ("", &inside[end + 1..])
        }
        _ => ("<", inside),
    }
}

/// Reduces `{@link Name words}` to its last word.
fn braced(inside: &str) -> (&str, &str) {
    match inside.find('}') {
        Some(end) => (
            inside[..end]
                .split([' ', '|'])
                .next_back()
                .unwrap_or_default(),
            &inside[end + 1..],
        ),
        None => ("{", inside),
    }
}

/// Reduces `[words](place)`, `[words][place]` and `[words]` to their words.
fn link(inside: &str) -> (&str, &str) {
    let Some(end) = inside.find(']') else {
        return ("[", inside);
    };
    let (words, after) = (&inside[..end], &inside[end + 1..]);
    let close = match after.chars().next() {
        Some('(') => after.find(')'),
        Some('[') => after.find(']'),
        _ => None,
    };
    (words, close.map_or(after, |close| &after[close + 1..]))
}

fn first_sentence(words: &[String]) -> String {
    let ends = |word: &String| {
        let is_short = [
            "e.g.", "i.e.", "etc.", "vs.", "cf.", "(e.g.", "(i.e.", "viz.",
        ]
        .contains(&word.as_str());
        word.ends_with('.') && !is_short
    };
    let length = words.iter().position(ends).map_or(words.len(), |at| at + 1);
    let sentence = words[..length].join(" ");
    let sentence = sentence.split(" # ").next().unwrap_or_default();
    sentence.trim().trim_end_matches(['.', ':']).to_owned()
}
