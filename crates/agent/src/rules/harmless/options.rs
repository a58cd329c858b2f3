//! The options of a program, and whether words have no others.

use syntax::shell::Word;

use super::{has_no_secret, is_below_and_plain};

/// Options and operands with which a program only reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Letters of short options without a value.
    pub(super) flags: &'static str,
    /// Letters of short options that take the rest of the word, or the next one.
    pub(super) valued: &'static str,
    /// Letters of short options that take the rest of the word only.
    pub(super) attached: &'static str,
    /// Long options, parted by blanks: `name` takes no value, `name=` takes one, `name?` may have one behind a `=`, and
    /// `name~` is like `name=` but may also be the last word.
    pub(super) long: &'static [&'static str],
    /// Whether `-5` is an option.
    pub(super) has_numbers: bool,
    /// What is not an option.
    pub(super) operands: Operands,
    /// Whether no option of the program, on the list or not, does anything but read, so that files whose names look
    /// like options do no harm.
    pub(super) is_tame: bool,
}

/// What is not an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// There must be none.
    None,
    /// Files, as many as this at most.
    Files(usize),
    /// Words that name no files.
    Texts,
    /// A pattern, unless an option gave one, and files.
    PatternAndFiles,
}

/// As many as there are.
pub(super) const ANY: usize = usize::MAX;

/// Options that give the pattern of `PatternAndFiles`.
const PATTERNS: [&str; 2] = ["e", "regexp"];

impl Options {
    pub(super) const NONE: Self = Self {
        flags: "",
        valued: "",
        attached: "",
        long: &[],
        has_numbers: false,
        operands: Operands::Files(ANY),
        is_tame: false,
    };

    /// Whether these are options of the list and harmless operands.
    pub(super) fn allows(&self, words: &[Word]) -> bool {
        self.operands_of(words)
            .is_some_and(|(operands, given)| self.allows_operands(&operands, &given))
    }

    /// The operands, and the names of the options; `None` where an option is not on the list.
    pub(super) fn operands_of<'a>(
        &self,
        words: &'a [Word],
    ) -> Option<(Vec<&'a Word>, Vec<&'a str>)> {
        let (mut operands, mut given) = (Vec::new(), Vec::new());
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if text == "--" {
                operands.extend(words);
                break;
            }
            if let Some(option) = text.strip_prefix("--") {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (option, None),
                };
                let next = self.long(name, value.is_some())?;
                given.push(name);
                let value = match next {
                    Next::Needed => Some(words.next()?.text.as_str()),
                    Next::Perhaps => words.next().map(|word| word.text.as_str()),
                    Next::Not => value,
                };
                value.is_none_or(has_no_secret).then_some(())?;
            } else if text.starts_with('-') && text.len() > 1 {
                let digits = &text[1..];
                if self.has_numbers && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                self.short(digits, &mut given, &mut words)?;
            } else {
                // What a glob matches may look like an option.
                let may_be_option = word.has_globs && text.starts_with(['*', '?', '[']);
                (self.is_tame || !may_be_option).then_some(())?;
                operands.push(word);
            }
        }
        Some((operands, given))
    }

    /// Whether a long option is on the list, and whether it takes the next word.
    fn long(&self, name: &str, has_value: bool) -> Option<Next> {
        let names = self.long.iter().flat_map(|names| names.split_whitespace());
        let mut found = names.filter_map(|known| {
            let bare = known.trim_end_matches(['=', '?', '~']);
            (bare == name).then(|| &known[bare.len()..])
        });
        match (found.next()?, has_value) {
            ("", true) => None,
            ("=", false) => Some(Next::Needed),
            ("~", false) => Some(Next::Perhaps),
            _ => Some(Next::Not),
        }
    }

    /// Short options in one word.
    fn short<'a>(
        &self,
        letters: &'a str,
        given: &mut Vec<&'a str>,
        words: &mut std::slice::Iter<'a, Word>,
    ) -> Option<()> {
        for (at, letter) in letters.char_indices() {
            let end = at + letter.len_utf8();
            given.push(&letters[at..end]);
            let rest = &letters[end..];
            if self.flags.contains(letter) {
                continue;
            }
            if self.attached.contains(letter) {
                return has_no_secret(rest).then_some(());
            }
            if !self.valued.contains(letter) {
                return None;
            }
            let value = match rest.is_empty() {
                true => words.next()?.text.as_str(),
                false => rest,
            };
            return has_no_secret(value).then_some(());
        }
        Some(())
    }

    pub(super) fn allows_operands(&self, operands: &[&Word], given: &[&str]) -> bool {
        let are_files = |words: &[&Word]| words.iter().all(|word| is_below_and_plain(word));
        match self.operands {
            Operands::None => operands.is_empty(),
            Operands::Files(most) => operands.len() <= most && are_files(operands),
            Operands::Texts => operands.iter().all(|word| is_text(word)),
            Operands::PatternAndFiles => {
                if given.iter().any(|name| PATTERNS.contains(name)) {
                    return are_files(operands);
                }
                match operands.split_first() {
                    Some((pattern, files)) => is_text(pattern) && are_files(files),
                    None => true,
                }
            }
        }
    }
}

/// Whether a long option takes the next word.
enum Next {
    Not,
    Needed,
    Perhaps,
}

/// Whether a word stands for itself, or for files that may be named.
pub(super) fn is_text(word: &Word) -> bool {
    word.is_certain() || is_below_and_plain(word)
}
