//! Annotations of a text by language servers: semantic tokens, links, colours and code lenses.
//!
//! Invariant: an annotation is stored once, however many views show it, and its span follows every edit; an edit
//! costs the same however many there are.
//! Invariant: at most one request of a kind is under way. An answer is carried over the edits since its text, or
//! dropped if these are unknown.
//! Start at `DocumentModel::want_annotations`.

mod set;

use std::rc::Rc;
use std::sync::Arc;

use base::{Bias, Revision, Span};
use gpui_kit::{App, Context, EventEmitter, Task};
use lsp::{ColorValue, DocumentLink, ServerCommand};
use syntax::HighlightKind;
use text::{Buffer, Change, Snapshot};

pub use self::set::AnnotationSet;

use super::DocumentModel;

/// A source of annotations of one kind, such as a language server.
pub trait AnnotationSource<T: Clone> {
    /// Requests annotations; `None` if the source cannot answer now. Dropping the task cancels the request.
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<T>>>;
}

/// The annotations that a view wants.
#[derive(Clone, Copy, Debug)]
pub struct AnnotationQuery {
    /// The rows around the visible ones.
    pub window: Span,
    /// Whether an answer about the window is preferred to one about the whole text, which comes later.
    pub is_first: bool,
}

/// Annotations of a text or of a part of it.
#[derive(Clone)]
pub struct AnnotationAnswer<T: Clone> {
    /// The revision of the text to which the spans refer.
    pub revision: Revision,
    /// The annotations.
    pub set: AnnotationSet<T>,
    /// The part of the text about which the answer is.
    pub extent: AnnotationExtent,
}

/// The part of a text about which an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationExtent {
    /// The whole text.
    Whole,
    /// The window of the query; the whole text can be asked for.
    WindowFirst,
    /// The window of the query; the source answers only about windows.
    WindowOnly,
}

/// The sources of a text's annotations. A kind without a source has none.
#[derive(Clone, Default)]
pub struct AnnotationSources {
    /// The kinds of names.
    pub tokens: Option<Rc<dyn AnnotationSource<HighlightKind>>>,
    /// Links to files and web addresses.
    pub links: Option<Rc<dyn AnnotationSource<Arc<DocumentLink>>>>,
    /// Colours that the text names.
    pub colors: Option<Rc<dyn AnnotationSource<ColorValue>>>,
    /// Commands that belong to parts of the text.
    pub lenses: Option<Rc<dyn AnnotationSource<Arc<ServerCommand>>>>,
}

/// A kind of annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// The kinds of names.
    Tokens,
    /// Links to files and web addresses.
    Links,
    /// Colours that the text names.
    Colors,
    /// Commands that belong to parts of the text.
    Lenses,
}

/// The annotations of a kind changed, or are to be requested again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnnotationsChanged(pub(crate) AnnotationKind);

impl EventEmitter<AnnotationsChanged> for DocumentModel {}

/// The value of an annotation, of which a document stores one set.
pub(crate) trait AnnotationValue: Clone + PartialEq + 'static {
    const KIND: AnnotationKind;
    /// Whether an annotation ends where typed text is no part of its word.
    const IS_WORD: bool;

    fn of(model: &DocumentModel) -> &Annotations<Self>;

    fn of_mut(model: &mut DocumentModel) -> &mut Annotations<Self>;
}

/// The annotations of one kind.
pub(crate) struct Annotations<T: Clone> {
    source: Option<Rc<dyn AnnotationSource<T>>>,
    set: AnnotationSet<T>,
    /// Increases with every answer and whenever the set is cleared; an edit does not count.
    version: u64,
    /// `None` before the first answer.
    known: Option<KnownPart>,
    request: Option<Task<()>>,
    /// Whether the source could not answer the last request.
    is_unanswered: bool,
}

/// The part of the text whose annotations are known.
#[derive(Clone, Copy, Debug)]
struct KnownPart {
    window: Span,
    extent: AnnotationExtent,
    /// Whether the text was edited since the request, or the source has others.
    is_stale: bool,
}

/// All annotations of a document.
#[derive(Default)]
pub(super) struct DocumentAnnotations {
    tokens: Annotations<HighlightKind>,
    links: Annotations<Arc<DocumentLink>>,
    colors: Annotations<ColorValue>,
    lenses: Annotations<Arc<ServerCommand>>,
}

impl AnnotationValue for HighlightKind {
    const KIND: AnnotationKind = AnnotationKind::Tokens;
    const IS_WORD: bool = true;

    fn of(model: &DocumentModel) -> &Annotations<Self> {
        &model.annotations.tokens
    }

    fn of_mut(model: &mut DocumentModel) -> &mut Annotations<Self> {
        &mut model.annotations.tokens
    }
}

impl AnnotationValue for Arc<DocumentLink> {
    const KIND: AnnotationKind = AnnotationKind::Links;
    const IS_WORD: bool = false;

    fn of(model: &DocumentModel) -> &Annotations<Self> {
        &model.annotations.links
    }

    fn of_mut(model: &mut DocumentModel) -> &mut Annotations<Self> {
        &mut model.annotations.links
    }
}

impl AnnotationValue for ColorValue {
    const KIND: AnnotationKind = AnnotationKind::Colors;
    const IS_WORD: bool = false;

    fn of(model: &DocumentModel) -> &Annotations<Self> {
        &model.annotations.colors
    }

    fn of_mut(model: &mut DocumentModel) -> &mut Annotations<Self> {
        &mut model.annotations.colors
    }
}

impl AnnotationValue for Arc<ServerCommand> {
    const KIND: AnnotationKind = AnnotationKind::Lenses;
    const IS_WORD: bool = false;

    fn of(model: &DocumentModel) -> &Annotations<Self> {
        &model.annotations.lenses
    }

    fn of_mut(model: &mut DocumentModel) -> &mut Annotations<Self> {
        &mut model.annotations.lenses
    }
}

impl<T: Clone> Default for Annotations<T> {
    fn default() -> Self {
        Self {
            source: None,
            set: AnnotationSet::default(),
            version: 0,
            known: None,
            request: None,
            is_unanswered: false,
        }
    }
}

impl KnownPart {
    fn answers(&self, window: Span) -> bool {
        !self.is_stale
            && match self.extent {
                AnnotationExtent::Whole => true,
                AnnotationExtent::WindowFirst => false,
                AnnotationExtent::WindowOnly => self.window.covers(window),
            }
    }
}

impl<T: AnnotationValue> Annotations<T> {
    fn follow(&mut self, change: &Change, after: &Snapshot) {
        self.set.follow(change, after, T::IS_WORD);
        if let Some(known) = &mut self.known {
            known.is_stale = true;
            known.window = map_window(change, known.window);
        }
    }

    /// Stores an answer to a query. Returns false if the edits since its text are unknown.
    fn store(
        &mut self,
        answer: AnnotationAnswer<T>,
        query: AnnotationQuery,
        buffer: &Buffer,
    ) -> bool {
        let Some(since) = buffer.changes_since(answer.revision) else {
            return false;
        };
        let AnnotationAnswer {
            mut set, extent, ..
        } = answer;
        set.follow(&since, &buffer.snapshot(), T::IS_WORD);
        let window = map_window(&since, query.window);
        if extent == AnnotationExtent::Whole {
            self.set = set;
        } else {
            self.set.replace(window, set);
        }
        self.version += 1;
        self.known = Some(KnownPart {
            window,
            extent,
            is_stale: answer.revision != buffer.revision(),
        });
        true
    }

    /// Forgets everything but the source.
    fn clear(&mut self) {
        *self = Self {
            source: self.source.take(),
            version: self.version + 1,
            ..Self::default()
        };
    }
}

/// Moves a window with a change.
pub(crate) fn map_window(change: &Change, window: Span) -> Span {
    Span::new(
        change.map(window.start, Bias::Left),
        change.map(window.end, Bias::Right),
    )
}

impl DocumentAnnotations {
    /// Moves all annotations with a change.
    pub(super) fn follow(&mut self, change: &Change, after: &Snapshot) {
        self.tokens.follow(change, after);
        self.links.follow(change, after);
        self.colors.follow(change, after);
        self.lenses.follow(change, after);
    }
}

impl DocumentModel {
    /// Sets the sources of annotations.
    pub fn set_annotation_sources(&mut self, sources: AnnotationSources) {
        self.annotations.tokens.source = sources.tokens;
        self.annotations.links.source = sources.links;
        self.annotations.colors.source = sources.colors;
        self.annotations.lenses.source = sources.lenses;
    }

    /// Removes all annotations, and requests those again that views show: their source is another one.
    pub fn forget_annotations(&mut self, cx: &mut Context<Self>) {
        self.forget::<HighlightKind>(cx);
        self.forget::<Arc<DocumentLink>>(cx);
        self.forget::<ColorValue>(cx);
        self.forget::<Arc<ServerCommand>>(cx);
    }

    fn forget<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        T::of_mut(self).clear();
        cx.emit(AnnotationsChanged(T::KIND));
    }

    /// Requests the annotations of a kind again: the source has others for the same text.
    pub fn refresh_annotations(&mut self, kind: AnnotationKind, cx: &mut Context<Self>) {
        match kind {
            AnnotationKind::Tokens => self.refresh::<HighlightKind>(cx),
            AnnotationKind::Links => self.refresh::<Arc<DocumentLink>>(cx),
            AnnotationKind::Colors => self.refresh::<ColorValue>(cx),
            AnnotationKind::Lenses => self.refresh::<Arc<ServerCommand>>(cx),
        }
    }

    fn refresh<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        let annotations = T::of_mut(self);
        if let Some(known) = &mut annotations.known {
            known.is_stale = true;
        }
        // An answer under way may be about the state before.
        annotations.request = None;
        annotations.is_unanswered = false;
        cx.emit(AnnotationsChanged(T::KIND));
    }

    /// Requests the annotations again for which the source had no answer.
    pub fn retry_annotations(&mut self, cx: &mut Context<Self>) {
        self.retry::<HighlightKind>(cx);
        self.retry::<Arc<DocumentLink>>(cx);
        self.retry::<ColorValue>(cx);
        self.retry::<Arc<ServerCommand>>(cx);
    }

    fn retry<T: AnnotationValue>(&mut self, cx: &mut Context<Self>) {
        if std::mem::take(&mut T::of_mut(self).is_unanswered) {
            cx.emit(AnnotationsChanged(T::KIND));
        }
    }

    /// Requests the annotations of the present text in a window, unless they are known or a request is under way,
    /// after whose answer the views ask again.
    pub(crate) fn want_annotations<T: AnnotationValue>(
        &mut self,
        window: Span,
        cx: &mut Context<Self>,
    ) {
        let snapshot = self.snapshot();
        let annotations = T::of_mut(self);
        let is_known = annotations.known.is_some_and(|known| known.answers(window));
        let Some(source) = annotations.source.clone() else {
            return;
        };
        if is_known || annotations.request.is_some() {
            return;
        }
        let known = annotations.known.map(|known| known.extent);
        let query = AnnotationQuery {
            window,
            is_first: matches!(known, None | Some(AnnotationExtent::WindowOnly)),
        };
        let asked = snapshot.revision();
        let answer = source.request(&snapshot, query, cx);
        T::of_mut(self).request = Some(cx.spawn(async move |this, cx| {
            let answer = answer.await;
            // The document may have been closed.
            this.update(cx, |model, cx| {
                model.take_annotations::<T>(query, asked, answer, cx)
            })
            .ok();
        }));
    }

    fn take_annotations<T: AnnotationValue>(
        &mut self,
        query: AnnotationQuery,
        asked: Revision,
        answer: Option<AnnotationAnswer<T>>,
        cx: &mut Context<Self>,
    ) {
        let mut annotations = std::mem::take(T::of_mut(self));
        annotations.request = None;
        annotations.is_unanswered = answer.is_none();
        let buffer = self.document.buffer();
        let is_stored = answer.is_some_and(|answer| annotations.store(answer, query, buffer));
        let is_outdated = buffer.revision() != asked;
        *T::of_mut(self) = annotations;
        // After an edit the views ask again, even if the server had no answer about the text before.
        if is_stored || is_outdated {
            cx.emit(AnnotationsChanged(T::KIND));
        }
    }

    /// Returns the annotations of a kind that touch a span, sorted by their starts.
    pub(crate) fn annotations_in<T: AnnotationValue>(&self, span: Span) -> Vec<(Span, T)> {
        T::of(self).set.touching(span)
    }

    /// Returns the semantic tokens; `None` if there are none.
    pub(crate) fn semantic_tokens(&self) -> Option<AnnotationSet<HighlightKind>> {
        let set = &self.annotations.tokens.set;
        (!set.is_empty()).then(|| set.clone())
    }

    /// Returns a number that changes with every answer and whenever annotations are cleared.
    pub(crate) fn annotation_version<T: AnnotationValue>(&self) -> u64 {
        T::of(self).version
    }
}
