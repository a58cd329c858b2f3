//! Splits a text into the model's tokens: lower-case words and punctuation marks, split into word
//! pieces.

use crate::wordpiece::Vocabulary;

const UNKNOWN: u32 = 100;

/// Returns at most `most` tokens.
pub(super) fn tokens(vocabulary: &Vocabulary, text: &str, most: usize) -> Vec<u32> {
    let text = text.to_lowercase();
    let mut tokens = Vec::with_capacity(most.min(text.len()));
    let mut rest = text.as_str();
    while let Some(letter) = rest.chars().next().filter(|_| tokens.len() < most) {
        let length = if stands_alone(letter) {
            letter.len_utf8()
        } else {
            rest.find(|letter: char| letter.is_whitespace() || stands_alone(letter))
                .unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(length.max(letter.len_utf8()));
        if !letter.is_whitespace() && !letter.is_control() {
            let before = tokens.len();
            vocabulary.split_word(word, &mut |token| tokens.push(token));
            if tokens.len() == before {
                tokens.push(UNKNOWN);
            }
        }
        rest = after;
    }
    tokens.truncate(most);
    tokens
}

/// Returns whether a character is a word by itself: punctuation, and characters of scripts without
/// blanks between words.
fn stands_alone(letter: char) -> bool {
    letter.is_ascii_punctuation()
        || matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
        || matches!(letter, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '¡' | '§' | '«' | '¶' | '·' | '»' | '¿')
}

#[cfg(test)]
mod tests {
    use super::tokens;
    use crate::wordpiece::Vocabulary;

    #[test]
    fn words_and_marks_are_cut_apart() {
        let mut spelt: Vec<String> = (0..100).map(|number| format!("[unused{number}]")).collect();
        spelt.extend(["[UNK]", "read", "_", "##er", "(", "中"].map(str::to_owned));
        let vocabulary = Vocabulary::new(spelt.iter().map(String::as_str));
        let check = |text: &str, most: usize, expected: &[u32]| {
            assert_eq!(tokens(&vocabulary, text, most), expected, "{text:?}");
        };
        check(
            "Read_reader (中中",
            99,
            &[101, 102, 101, 103, 104, 105, 105],
        );
        check("zzz read", 99, &[100, 101]);
        check("read read read", 2, &[101, 101]);
        check(" \n\t", 9, &[]);
        check("", 9, &[]);
    }
}
