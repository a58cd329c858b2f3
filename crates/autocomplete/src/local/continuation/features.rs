//! The features from which the learned tables compute probabilities, as small integers.
//!
//! The tables split a feature at a threshold, so only its order counts: classes are numbered, and a
//! missing distance is a large one. A change of the features makes the tables unusable; they carry
//! the number of features and are trained again by `cargo xtask train-tab`.

use crate::local::token::is_word_char;

/// Features of a predicted token.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenFeatures {
    /// Tokens before the caret that match the best occurrence.
    pub(super) length: usize,
    /// Matching tokens of the best occurrence that predicts another token.
    pub(super) rival: usize,
    /// Words among the matching tokens; punctuation alone is weak evidence.
    pub(super) words: usize,
    /// Further tokens before those that match except for names.
    pub(super) farther: usize,
    /// Weight of the occurrences that predict it, relative to all that agree so far, from 0 to 1.
    pub(super) share: f32,
    /// Relative weight of the strongest other candidate, from 0 to 1.
    pub(super) rival_share: f32,
    /// Weight of all occurrences that agree so far.
    pub(super) weight: f32,
    pub(super) voters: VoterCounts,
    /// Tokens between the caret and the nearest occurrence near it.
    pub(super) distance: Option<usize>,
    /// Bytes of the token that are typed already.
    pub(super) partial: usize,
    /// Tokens that the guess already contains.
    pub(super) taken: usize,
    /// Number of candidates, and the position of this one by weight.
    pub(super) options: usize,
    pub(super) rank: usize,
    /// Number of times that the token occurs around the caret, and shortly before it.
    pub(super) known: usize,
    pub(super) recent: usize,
    /// Tokens between the caret and the last occurrence of the token before it.
    pub(super) last_seen: Option<usize>,
    pub(super) is_newline: bool,
    pub(super) bytes: usize,
    pub(super) shape: Shape,
    /// Number of edits since the word was introduced, if that was recent.
    pub(super) brought: Option<usize>,
    /// Occurrences in the project of words with the typed prefix, and this word's share of them.
    pub(super) prefixed: usize,
    pub(super) prefix_share: f32,
    /// Different words around the caret that continue the typed prefix.
    pub(super) prefix_rivals: usize,
    /// Share of the occurrences of the context that agree with the typed prefix, near the caret and
    /// in the project, from 0 to 1.
    pub(super) agreeing: f32,
    pub(super) agreeing_project: f32,
    /// Tokens before the caret that match an occurrence, whatever follows it.
    pub(super) context: usize,
    /// Share of the token among those that follow the context in other projects, from 0 to 1; for
    /// the longest known context, and for one of at most two tokens.
    pub(super) idiom: f32,
    pub(super) short_idiom: f32,
    /// Tokens of the longest known context.
    pub(super) idiom_order: usize,
    pub(super) site: CaretSite,
}

/// Numbers of occurrences that predict a token, by where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VoterCounts {
    pub(super) near: usize,
    /// In the text that an edit replaced at the caret.
    pub(super) replaced_here: usize,
    pub(super) replaced: usize,
    /// In the saved text of the file.
    pub(super) file: usize,
    pub(super) open: usize,
    pub(super) project: usize,
}

/// Kind of a token, by its characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Newline,
    Number,
    Opener,
    Closer,
    Separator,
    Member,
    Assignment,
    Operator,
    Quote,
    Keyword,
    Short,
    Lower,
    Snake,
    Camel,
    Upper,
    Constant,
}

impl Shape {
    pub(super) fn of(token: &str) -> Self {
        let Some(first) = token.chars().next() else {
            return Self::Newline;
        };
        if first.is_ascii_digit() {
            return Self::Number;
        }
        if is_word_char(first) {
            return Self::of_word(token);
        }
        match token {
            "(" | "[" | "{" => Self::Opener,
            ")" | "]" | "}" => Self::Closer,
            ";" | "," | ":" => Self::Separator,
            "." | "::" | "->" | "?." => Self::Member,
            "=" | ":=" | "+=" | "-=" | "=>" => Self::Assignment,
            "\"" | "'" | "`" | "\"\"\"" => Self::Quote,
            _ => Self::Operator,
        }
    }

    fn of_word(word: &str) -> Self {
        if KEYWORDS.contains(&word) {
            return Self::Keyword;
        }
        if word.len() <= 2 {
            return Self::Short;
        }
        let has_lower = word.chars().any(char::is_lowercase);
        let has_upper = word.chars().any(char::is_uppercase);
        let is_capital = word.starts_with(char::is_uppercase);
        match (has_lower, has_upper) {
            (false, true) => Self::Constant,
            (true, true) if is_capital => Self::Upper,
            (true, true) => Self::Camel,
            _ if word.contains('_') => Self::Snake,
            _ => Self::Lower,
        }
    }
}

/// Words that are reserved in most languages that have them.
const KEYWORDS: [&str; 58] = [
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "false",
    "final",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "is",
    "let",
    "match",
    "mod",
    "mut",
    "new",
    "nil",
    "not",
    "null",
    "or",
    "package",
    "pub",
    "raise",
    "range",
    "return",
    "self",
    "static",
    "struct",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "use",
    "var",
];

/// Features of the text around the caret, the same for all tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaretSite {
    pub(super) is_row_start: bool,
    /// In a comment or a string.
    pub(super) is_prose: bool,
    pub(super) is_comment: bool,
    /// The caret follows `.`, `::` or `->`, where a member is expected.
    pub(super) is_member: bool,
    /// The caret follows `(`, `,` or `=`, where a value is expected.
    pub(super) is_value: bool,
    /// The caret follows a word, with or without blanks.
    pub(super) is_word: bool,
    /// The rest of the row is blank.
    pub(super) is_end: bool,
    /// The next text in the row is a word.
    pub(super) is_before_word: bool,
    /// Tokens before the caret in its row.
    pub(super) row_tokens: usize,
    /// Class of the first token of the row, by `statement_class`.
    pub(super) statement: i16,
    /// Innermost open bracket, by `bracket_class`.
    pub(super) open: i16,
    /// Kind of the token before the caret.
    pub(super) last: Shape,
    /// Number of times that the last word of the row occurs around the caret.
    pub(super) last_known: usize,
    /// By `language_class`.
    pub(super) language: i16,
}

impl CaretSite {
    /// A site of which nothing is known.
    pub(super) const UNKNOWN: Self = Self {
        is_row_start: false,
        is_prose: false,
        is_comment: false,
        is_member: false,
        is_value: false,
        is_word: false,
        is_end: false,
        is_before_word: false,
        row_tokens: 0,
        statement: 0,
        open: 0,
        last: Shape::Newline,
        last_known: 0,
        language: 0,
    };
}

/// Returns the class of a row by its first token.
pub(super) fn statement_class(first: &str) -> i16 {
    match first {
        "" => 0,
        "import" | "use" | "from" | "package" | "export" | "mod" | "require" => 1,
        "let" | "const" | "var" | "static" => 2,
        "if" | "while" | "for" | "match" | "switch" | "elif" | "case" | "else" => 3,
        "return" | "raise" | "throw" | "yield" | "break" => 4,
        "func" | "fn" | "def" | "pub" | "class" | "struct" | "type" | "impl" | "interface"
        | "enum" | "function" => 5,
        "//" | "#" | "/*" | "*" | "///" | "\"\"\"" => 6,
        "@" => 7,
        "}" | ")" | "]" => 8,
        "assert" | "self" | "this" | "it" | "expect" => 9,
        _ if first.starts_with(is_word_char) => 10,
        _ => 11,
    }
}

/// Returns the class of an opening bracket; 0 without one.
pub(super) fn bracket_class(open: &str) -> i16 {
    match open {
        "(" => 1,
        "[" => 2,
        "{" => 3,
        _ => 0,
    }
}

/// Returns the class of a language.
pub(super) fn language_class(name: &str) -> i16 {
    match name {
        "Rust" => 1,
        "Go" => 2,
        "C" | "C++" | "Java" | "C#" => 3,
        "JavaScript" => 4,
        "TypeScript" | "TSX" => 5,
        "Python" => 6,
        "Ruby" | "Lua" => 7,
        _ => 0,
    }
}

/// Number of features of a token.
pub const TOKEN_FEATURES: usize = 55;

/// The features of a token as the tables read them.
pub type TokenVector = [i16; TOKEN_FEATURES];

/// A distance that is not known.
const FAR: usize = 9999;

fn int(count: usize) -> i16 {
    i16::try_from(count).unwrap_or(i16::MAX)
}

fn thousandths(share: f32) -> i16 {
    (share.clamp(0.0, 1.0) * 1000.0) as i16
}

impl TokenFeatures {
    /// Returns the inputs of the tables, in their order.
    pub(super) fn vector(&self) -> TokenVector {
        let site = &self.site;
        let flag = i16::from;
        let voters = &self.voters;
        let all = voters.near
            + voters.replaced_here
            + voters.replaced
            + voters.file
            + voters.open
            + voters.project;
        [
            int(self.length),
            int(self.rival),
            int(self.words),
            int(self.farther),
            int(self.length + self.taken),
            thousandths(self.share),
            thousandths(self.rival_share),
            thousandths(self.share / (self.share + self.rival_share).max(f32::MIN_POSITIVE)),
            self.weight.clamp(0.0, 30_000.0) as i16,
            int(all),
            int(voters.near),
            int(voters.replaced_here),
            int(voters.replaced),
            int(voters.file),
            int(voters.open),
            int(voters.project),
            int(self.distance.unwrap_or(FAR)),
            int(self.partial),
            int(self.bytes.saturating_sub(self.partial)),
            int(self.bytes),
            int(self.taken),
            int(self.options),
            int(self.rank),
            int(self.known),
            int(self.recent),
            int(self.last_seen.unwrap_or(FAR)),
            flag(self.is_newline),
            self.shape as i16,
            int(self.brought.unwrap_or(99)),
            int(self.prefixed),
            thousandths(self.prefix_share),
            int(self.prefix_rivals),
            thousandths(self.agreeing),
            thousandths(self.agreeing_project),
            int(self.context),
            (self.length as i16).saturating_sub(self.rival as i16),
            flag(site.is_row_start),
            flag(site.is_prose),
            flag(site.is_comment),
            flag(site.is_member),
            flag(site.is_value),
            flag(site.is_word),
            flag(site.is_end),
            flag(site.is_before_word),
            int(site.row_tokens),
            site.statement,
            site.open,
            site.last as i16,
            int(site.last_known),
            site.language,
            flag(self.taken == 0),
            flag(self.taken == 0 && self.partial == 0),
            thousandths(self.idiom),
            thousandths(self.short_idiom),
            int(self.idiom_order),
        ]
    }
}

/// Features of a whole guess, from the probabilities of its tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuessFeatures {
    /// Product of the probabilities of its tokens, the smallest of them, the first and the last.
    pub(super) product: f32,
    pub(super) least: f32,
    pub(super) first: f32,
    pub(super) last: f32,
    /// Probability of the best guess with another first token.
    pub(super) other: f32,
    pub(super) tokens: usize,
    pub(super) words: usize,
    pub(super) bytes: usize,
    pub(super) lines: usize,
    pub(super) end: Shape,
    /// Features of its first token.
    pub(super) start: TokenVector,
}

/// Number of features of a guess beside those of its first token.
const OWN: usize = 10;

/// Number of features of a guess.
pub const GUESS_FEATURES: usize = OWN + TOKEN_FEATURES;

/// The features of a guess as the tables read them.
pub type GuessVector = [i16; GUESS_FEATURES];

impl GuessFeatures {
    /// Returns the inputs of the tables, in their order.
    pub(super) fn vector(&self) -> GuessVector {
        let mut vector = [0; GUESS_FEATURES];
        let own = [
            thousandths(self.product),
            thousandths(self.least),
            thousandths(self.first),
            thousandths(self.last),
            thousandths(self.other),
            int(self.tokens),
            int(self.words),
            int(self.bytes),
            int(self.lines),
            self.end as i16,
        ];
        vector[..OWN].copy_from_slice(&own);
        vector[OWN..].copy_from_slice(&self.start);
        vector
    }
}
