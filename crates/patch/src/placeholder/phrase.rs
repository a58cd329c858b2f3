//! Vocabulary of placeholder lines.

/// Words which state that something is unchanged or was left out.
const STATEMENTS: &str = "\
    unchanged unmodified untouched unaltered omitted elided snip snipped brevity abbreviated";
/// Words for everything that is not named.
const REST: &str = "existing rest remaining remainder preexisting";
/// Words that may also distinguish something from what was named before.
const OTHERS: &str = "other others previous prior original more same earlier";
/// Function words of a statement.
const TIES: &str = "\
    a above all an and any are as at be before below but change changed changes continue \
    continues copy exactly etc follow follows for from go goes here in include insert is it its \
    just keep keeps kept leave left like modifications my need needed no not of or our out \
    preserve previously remain remains hidden identical intact shown skipped stay stays still \
    that the these this to truncated verbatim with your";
/// Nouns for the omitted part.
const THINGS: &str = "\
    arguments args arms assertions attributes blocks block body branches buttons cases cells \
    checks class classes code columns command commands comment comments component components \
    conditions config configuration configurations constants constructor content contents css \
    data declarations definition definitions dependencies docs docstring document documentation \
    element elements else entries entry enum example examples exports field fields file files \
    form function functionality functions handler handlers header helpers hooks html \
    implementation implementations import imports includes initialization items jsx keys layout \
    line lines list logic loop markup members method methods module modules number object \
    options page parameters params part parts properties props query routes rows rules script \
    section sections settings setup state statements steps struct stuff style styles template \
    test tests text things types values variables";
/// Words that continue a sentence from the line above.
const CONJUNCTIONS: &str = "\
    and because but by if or since so that then unless until when which while";
/// Maximum number of words in a placeholder.
const MAX_WORDS: usize = 12;

/// Noun by which a line names the omitted part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OmittedNoun {
    /// All of the existing lines.
    Rest,
    /// Everything not named before.
    Others,
}

/// The words of a possible placeholder.
pub(super) struct Phrase {
    words: Vec<String>,
    /// Number of words outside the vocabulary.
    pub(super) unknown: usize,
    pub(super) is_statement: bool,
    pub(super) names: Option<OmittedNoun>,
    /// Whether it continues a sentence from the line above.
    pub(super) goes_on: bool,
}

impl Phrase {
    /// Parses the words; `None` if they cannot be a placeholder. Outside of a comment, punctuation
    /// means code.
    pub(super) fn parse(text: &str, is_comment: bool) -> Option<Self> {
        let is_sign = |sign: char| {
            let is_plain = matches!(
                sign,
                ' ' | ','
                    | '\''
                    | '\u{2019}'
                    | '-'
                    | '('
                    | ')'
                    | '.'
                    | '…'
                    | '\u{2014}'
                    | '\u{2013}'
            );
            !sign.is_alphanumeric() && !is_plain
        };
        if !is_comment && text.contains(is_sign) {
            return None;
        }
        let is_letter =
            |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '\'' | '\u{2019}');
        let words = text.split(|sign: char| !is_letter(sign));
        let words = words.filter(|word| word.chars().any(char::is_alphanumeric));
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        if words.is_empty() || words.len() > MAX_WORDS {
            return None;
        }
        let has = |some: &str| words.iter().any(|word| is_among(some, word));
        let names = match (has(REST), has(OTHERS)) {
            (true, _) => Some(OmittedNoun::Rest),
            (false, true) => Some(OmittedNoun::Others),
            (false, false) => None,
        };
        Some(Self {
            unknown: words.iter().filter(|word| !is_known(word)).count(),
            is_statement: has(STATEMENTS) || states_sameness(&words),
            names,
            goes_on: is_among(CONJUNCTIONS, &words[0]),
            words,
        })
    }

    /// Returns the number of words.
    pub(super) fn count(&self) -> usize {
        self.words.len()
    }

    /// Whether it begins with "rest of", which names the omitted part.
    pub(super) fn is_rest_of(&self) -> bool {
        let mut words = self
            .words
            .iter()
            .map(String::as_str)
            .filter(|word| *word != "the");
        words.next() == Some("rest") && words.next() == Some("of")
    }
}

/// Whether a list contains a word.
fn is_among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}

/// Whether a word in lower case is a number or belongs to the vocabulary.
fn is_known(word: &str) -> bool {
    let is_number = word.chars().all(|sign| sign.is_ascii_digit());
    let word = word.trim_end_matches("'s");
    is_number
        || [STATEMENTS, REST, OTHERS, TIES, THINGS]
            .iter()
            .any(|known| is_among(known, word))
}

/// Whether several words together state that something is unchanged.
fn states_sameness(words: &[String]) -> bool {
    let pairs = || {
        words
            .windows(2)
            .map(|pair| (pair[0].as_str(), pair[1].as_str()))
    };
    let stays = |word: &str| {
        let verbs = [
            "stay", "stays", "remain", "remains", "keep", "keeps", "kept", "leave", "left",
            "preserve", "is", "are",
        ];
        verbs.contains(&word)
    };
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let is_pair = |(first, second): (&str, &str)| {
        matches!(
            (first, second),
            ("as", "is" | "before" | "above" | "previously" | "original")
                | ("no", "change" | "changes" | "modifications")
                | ("not", "shown" | "changed")
                | ("left", "out")
                | ("same", "as")
        )
    };
    let keeps_rest = [
        "keep", "keeps", "kept", "leave", "preserve", "include", "insert", "copy",
    ]
    .iter()
    .any(|verb| has(verb))
        && words.iter().any(|word| is_among(REST, word));
    let is_same = has("same") && words.iter().any(|word| stays(word));
    let goes_here = has("existing") && has("here");
    pairs().any(is_pair) || is_same || keeps_rest || goes_here
}
