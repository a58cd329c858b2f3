//! The sources of what a view shows about the symbols of its text.

use std::rc::Rc;

use super::Editor;
use super::document_highlights::{self, HighlightSource};
use super::format_on_type::{self, TypeFormatter};
use super::hover::{self, HoverSource};
use super::light_bulb::{self, CodeActionSource};
use super::linked_editing::{self, LinkedSpanSource};
use super::selection_ranges::{self, SelectionRangeSource};
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
    /// Whether there are code actions for the selection.
    pub code_actions: Option<Rc<dyn CodeActionSource>>,
    /// The edits after a typed character.
    pub type_formatter: Option<Rc<dyn TypeFormatter>>,
    /// The pieces of syntax around the carets.
    pub selection_ranges: Option<Rc<dyn SelectionRangeSource>>,
}

impl Editor {
    /// Replaces all sources.
    pub fn set_language_sources(&mut self, sources: LanguageSources) {
        hover::set_source(self, sources.hover);
        document_highlights::set_source(self, sources.highlights);
        linked_editing::set_source(self, sources.linked_spans);
        signature::set_source(self, sources.signatures);
        light_bulb::set_source(self, sources.code_actions);
        format_on_type::set_source(self, sources.type_formatter);
        selection_ranges::set_source(self, sources.selection_ranges);
    }
}
