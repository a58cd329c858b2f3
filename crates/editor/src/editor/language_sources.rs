//! The sources of what a view shows about the symbols of its text.

use std::rc::Rc;

use super::Editor;
use super::document_highlights::{self, HighlightSource};
use super::hover::{self, HoverSource};
use super::linked_editing::{self, LinkedSpanSource};
use super::signature::{self, SignatureSource};

/// The sources of what a view shows about the symbols of its text, such as language servers. A part
/// without a source shows nothing.
#[derive(Clone, Default)]
pub struct LanguageSources {
    /// The texts of hover cards.
    pub hover: Option<Rc<dyn HoverSource>>,
    /// The occurrences of the symbol at the caret.
    pub highlights: Option<Rc<dyn HighlightSource>>,
    /// The spans that change together with the one at the caret.
    pub linked_spans: Option<Rc<dyn LinkedSpanSource>>,
    /// The signatures of the call around the caret.
    pub signatures: Option<Rc<dyn SignatureSource>>,
}

impl Editor {
    /// Replaces all sources.
    pub fn set_language_sources(&mut self, sources: LanguageSources) {
        hover::set_source(self, sources.hover);
        document_highlights::set_source(self, sources.highlights);
        linked_editing::set_source(self, sources.linked_spans);
        signature::set_source(self, sources.signatures);
    }
}
