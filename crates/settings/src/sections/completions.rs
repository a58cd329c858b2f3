//! Settings of the completion list.

use crate::section::section;

section! {
    /// The list of completions for the word at the caret.
    CompletionSettings {
        /// Opens the list while you type code. In texts without a language, in Markdown, in comments and in strings it opens only on request.
        auto: bool = true;
        /// Offers words of the text around the caret.
        words: bool = true;
        /// Offers your snippets.
        snippets: bool = true;
        /// Minimum length of the offered words, in characters.
        min_word_length: u32 = 3, 1..=20;
    }
}
