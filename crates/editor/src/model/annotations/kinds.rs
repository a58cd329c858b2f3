//! The kinds of annotations of a document.
//!
//! Start at the list of kinds at the end.

use std::rc::Rc;
use std::sync::Arc;

use gpui_kit::Context;
use lsp::{ColorValue, DocumentLink, FoldingKind, ServerCommand};
use syntax::HighlightKind;
use text::{Change, Snapshot};

use super::AnnotationSource;
use super::set::AnnotationEdges;
use super::store::Annotations;
use crate::model::DocumentModel;

/// The value of an annotation, of which a document stores one set.
pub(crate) trait AnnotationValue: Clone + PartialEq + Send + Sync + 'static {
    const KIND: AnnotationKind;
    const EDGES: AnnotationEdges;

    fn of(all: &DocumentAnnotations) -> &Annotations<Self>;

    fn of_mut(all: &mut DocumentAnnotations) -> &mut Annotations<Self>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])+ $kind:ident, $field:ident: $value:ty, $edges:ident;)+) => {
        /// A kind of annotation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnnotationKind {
            $($(#[$doc])+ $kind,)+
        }

        impl AnnotationKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];
        }

        /// The sources of a text's annotations. A kind without a source has none.
        #[derive(Clone, Default)]
        pub struct AnnotationSources {
            $($(#[$doc])+ pub $field: Option<Rc<dyn AnnotationSource<$value>>>,)+
        }

        /// All annotations of a document.
        #[derive(Default)]
        pub(crate) struct DocumentAnnotations {
            $($field: Annotations<$value>,)+
        }

        impl DocumentAnnotations {
            /// Moves all annotations with a change.
            pub(crate) fn follow(&mut self, change: &Change, after: &Snapshot) {
                $(self.$field.follow(change, after);)+
            }

            pub(super) fn set_sources(&mut self, sources: AnnotationSources) {
                $(self.$field.set_source(sources.$field);)+
            }
        }

        $(impl AnnotationValue for $value {
            const KIND: AnnotationKind = AnnotationKind::$kind;
            const EDGES: AnnotationEdges = AnnotationEdges::$edges;

            fn of(all: &DocumentAnnotations) -> &Annotations<Self> {
                &all.$field
            }

            fn of_mut(all: &mut DocumentAnnotations) -> &mut Annotations<Self> {
                &mut all.$field
            }
        })+

        impl DocumentModel {
            /// Removes all annotations, and requests those again that views show: their source is another one.
            pub fn forget_annotations(&mut self, cx: &mut Context<Self>) {
                $(self.forget::<$value>(cx);)+
            }

            /// Requests the annotations again for which the source had no answer.
            pub fn retry_annotations(&mut self, cx: &mut Context<Self>) {
                $(self.retry::<$value>(cx);)+
            }

            /// Requests the annotations of a kind again: the source has others for the same text.
            pub fn refresh_annotations(&mut self, kind: AnnotationKind, cx: &mut Context<Self>) {
                match kind {
                    $(AnnotationKind::$kind => self.refresh::<$value>(cx),)+
                }
            }
        }
    };
}

kinds! {
    /// The kinds of names.
    Tokens, tokens: HighlightKind, Word;
    /// Links to files and web addresses.
    Links, links: Arc<DocumentLink>, Fixed;
    /// Colours that the text names.
    Colors, colors: ColorValue, Growing;
    /// Commands that belong to parts of the text.
    Lenses, lenses: Arc<ServerCommand>, Fixed;
    /// Parts of the text to hide, each from the end of its first row to the end of its last one.
    Folds, folds: Option<FoldingKind>, Fixed;
}
