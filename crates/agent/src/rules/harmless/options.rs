//! The options of a program, and the check that no others are used.

use syntax::shell::ShellWord;

use super::{has_no_secret, is_below_and_plain};

/// Options and operands with which a program only reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOnlyOptions {
    /// Letters of short options without a value.
    pub(super) flags: &'static str,
    /// Letters of short options that take the rest of the word, or the next one.
    pub(super) valued: &'static str,
    /// Letters of short options that take the rest of the word only.
    pub(super) attached: &'static str,
    /// Long options, separated by spaces: `name` takes no value, `name=` takes one, `name?` may
    /// have one after a `=`, and `name~` is like `name=` but may also be the last word.
    pub(super) long: &'static [&'static str],
    /// Whether `-5` is an option.
    pub(super) has_numbers: bool,
    /// The operands the program accepts.
    pub(super) operands: Operands,
    /// Whether every option of the program, listed or not, only reads. File names that look like
    /// options are then harmless.
    pub(super) is_tame: bool,
}

/// The words of a command other than options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// There must be none.
    None,
    /// Files, up to this number.
    Files(usize),
    /// Words that do not name files.
    Texts,
    /// A pattern, unless an option gave one, and files.
    PatternAndFiles,
}

/// Any number of files.
pub(super) const ANY: usize = usize::MAX;

/// Options that give the pattern of `PatternAndFiles`.
const PATTERNS: [&str; 2] = ["e", "regexp"];

impl ReadOnlyOptions {
    /// No options, and any number of files.
    pub(super) const NONE: Self = Self {
        flags: "",
        valued: "",
        attached: "",
        long: &[],
        has_numbers: false,
        operands: Operands::Files(ANY),
        is_tame: false,
    };

    /// Returns whether all options are on the list and all operands are harmless.
    pub(super) fn allows(&self, words: &[ShellWord]) -> bool {
        self.operands_of(words)
            .is_some_and(|(operands, given)| self.allows_operands(&operands, &given))
    }

    /// Returns the operands, and the names of the options; `None` if an option is not on the list.
    pub(super) fn operands_of<'a>(
        &self,
        words: &'a [ShellWord],
    ) -> Option<(Vec<&'a ShellWord>, Vec<&'a str>)> {
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
                    NextWord::Needed => Some(words.next()?.text.as_str()),
                    NextWord::Perhaps => words.next().map(|word| word.text.as_str()),
                    NextWord::Not => value,
                };
                value.is_none_or(has_no_secret).then_some(())?;
            } else if text.starts_with('-') && text.len() > 1 {
                let digits = &text[1..];
                if self.has_numbers && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    continue;
                }
                self.short(digits, &mut given, &mut words)?;
            } else {
                // A file name that a glob matches may look like an option.
                let may_be_option = word.has_globs && text.starts_with(['*', '?', '[']);
                (self.is_tame || !may_be_option).then_some(())?;
                operands.push(word);
            }
        }
        Some((operands, given))
    }

    /// Looks up a long option, and whether it takes the next word.
    fn long(&self, name: &str, has_value: bool) -> Option<NextWord> {
        let names = self.long.iter().flat_map(|names| names.split_whitespace());
        let mut found = names.filter_map(|known| {
            let bare = known.trim_end_matches(['=', '?', '~']);
            (bare == name).then(|| &known[bare.len()..])
        });
        match (found.next()?, has_value) {
            ("", true) => None,
            ("=", false) => Some(NextWord::Needed),
            ("~", false) => Some(NextWord::Perhaps),
            _ => Some(NextWord::Not),
        }
    }

    /// Parses the short options in one word.
    fn short<'a>(
        &self,
        letters: &'a str,
        given: &mut Vec<&'a str>,
        words: &mut std::slice::Iter<'a, ShellWord>,
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
            let value = if rest.is_empty() {
                words.next()?.text.as_str()
            } else {
                rest
            };
            return has_no_secret(value).then_some(());
        }
        Some(())
    }

    /// Returns whether these operands, with the options named `given`, are of the expected kind and
    /// below the root.
    pub(super) fn allows_operands(&self, operands: &[&ShellWord], given: &[&str]) -> bool {
        let are_files = |words: &[&ShellWord]| words.iter().all(|word| is_below_and_plain(word));
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
enum NextWord {
    Not,
    Needed,
    Perhaps,
}

/// Returns whether the program receives the word as it is written, or as names of files that may
/// be read without permission.
pub(super) fn is_text(word: &ShellWord) -> bool {
    word.is_certain() || is_below_and_plain(word)
}
