//! Settings of inline edits: changes of some lines by an instruction, in place.

use crate::section::section;

section! {
    /// Inline edits: a model changes some lines as you ask, and you accept or reject the change.
    InlineEditSettings {
        /// Model for inline edits: `panel` for the model of the agents panel, `auto`, `demo`, or a model written `provider/model`.
        model: String = "panel".to_owned();
    }
}
