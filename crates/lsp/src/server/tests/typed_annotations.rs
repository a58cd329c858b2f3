//! Answers that annotate a random text: they have the shapes of the protocol, but random and partly wrong members.

use base::{AbsPath, ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use text::Snapshot;

use super::fake::{FakeServer, WAIT, path, with_document};
use super::shapes::{ANNOTATIONS, ANSWERS, random_value};
use crate::framing::frame;
use crate::random;
use crate::{
    DocumentColor, FoldingRange, LanguageServer, LensCommand, LinkTarget, Request, SemanticTokens,
};

fn capabilities(encoding: &str) -> Value {
    let legend = json!({ "tokenTypes": ["type"], "tokenModifiers": ["static"] });
    json!({
        "textDocumentSync": 2, "positionEncoding": encoding, "inlayHintProvider": true,
        "semanticTokensProvider": { "legend": legend, "full": { "delta": true }, "range": true },
        "documentLinkProvider": { "resolveProvider": true },
        "codeLensProvider": { "resolveProvider": true }, "colorProvider": true,
        "foldingRangeProvider": true, "selectionRangeProvider": true,
        "linkedEditingRangeProvider": true,
        "diagnosticProvider": { "identifier": "x", "workspaceDiagnostics": true },
        "executeCommandProvider": { "commands": ["x"] },
    })
}

fn document() -> AbsPath {
    path("/w/a.rs")
}

/// Returns whether the offset is a char boundary of the text.
fn is_boundary(text: &str, offset: ByteOffset) -> bool {
    text.is_char_boundary(offset.0)
}

/// A client with one open document, and its server.
struct World {
    server: LanguageServer,
    fake: FakeServer,
    rng: StdRng,
    text: String,
    /// The last answer about the tokens of the whole text.
    tokens: Option<SemanticTokens>,
    /// The number of annotations and diagnostics that were read.
    count: usize,
}

impl World {
    fn new(encoding: &str, seed: u64) -> Self {
        let (server, _, fake) = with_document(capabilities(encoding), "");
        Self {
            server,
            fake,
            rng: StdRng::seed_from_u64(seed),
            text: String::new(),
            tokens: None,
            count: 0,
        }
    }

    /// Replaces the text by a random one.
    fn replace_text(&mut self) {
        let text = random::text(&mut self.rng, 40);
        if text != self.text {
            self.text = text;
            self.server
                .replace_document(&document(), &Snapshot::new(&self.text));
            self.fake.expect("textDocument/didChange");
        }
    }

    /// Answers the next request with a random value of its shape.
    fn respond(&mut self) {
        let sent = self.fake.read().expect("a request");
        let mut answers = ANNOTATIONS.iter().chain(ANSWERS);
        let shape = answers.find(|(method, _)| sent["method"] == *method);
        let (_, shape) = shape.expect("a known method");
        let (id, value) = (&sent["id"], random_value(&mut self.rng, *shape));
        self.fake
            .write(&frame(&format!(r#"{{"id":{id},"result":{value}}}"#)));
        // If that was no message, this is the answer.
        let refusal = format!(r#"{{"id":{id},"error":{{"code":1,"message":"m"}}}}"#);
        self.fake.write(&frame(&refusal));
    }

    /// Answers a request, and waits for the result; an error is one, too.
    fn answer<T>(&mut self, request: Option<Request<T>>) -> Option<T> {
        let request = request.expect("offered");
        self.respond();
        request.wait(WAIT).ok()
    }

    /// Checks that a span lies in the text, on char boundaries.
    fn check(&mut self, span: Span) {
        self.count += 1;
        assert!(span.start <= span.end, "{span:?}");
        let ends = [span.start, span.end];
        let lies_within = ends.iter().all(|offset| is_boundary(&self.text, *offset));
        assert!(lies_within, "{span:?} of {:?}", self.text);
    }

    /// Checks that spans are sorted and lie in the text.
    fn check_sorted(&mut self, spans: &[Span]) {
        assert!(spans.is_sorted_by_key(|span| span.start), "{spans:?}");
        spans.iter().for_each(|span| self.check(*span));
    }

    fn check_tokens(&mut self, tokens: Option<&SemanticTokens>) {
        let tokens = tokens.into_iter().flat_map(|tokens| &tokens.tokens);
        let spans: Vec<Span> = tokens.map(|token| token.span).collect();
        self.check_sorted(&spans);
        for pair in spans.windows(2) {
            assert!(pair[0].end <= pair[1].start, "{spans:?}");
        }
        for span in spans {
            let text = &self.text[span.start.0..span.end.0];
            assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
        }
    }

    fn ask_for_tokens(&mut self) {
        let document = document();
        let previous = self.tokens.take();
        let request = self.server.semantic_tokens(&document, previous.as_ref());
        let tokens = self.answer(request);
        self.check_tokens(tokens.as_ref());
        self.tokens = tokens;
        let span = Span::from(0..self.text.len());
        let request = self.server.semantic_tokens_in(&document, span);
        let part = self.answer(request);
        self.check_tokens(part.as_ref());
    }

    fn ask_for_links(&mut self) {
        let request = self.server.document_links(&document());
        let links = self.answer(request).unwrap_or_default();
        let spans: Vec<Span> = links.iter().map(|link| link.span).collect();
        self.check_sorted(&spans);
        for link in links.iter().take(4) {
            if let LinkTarget::Unresolved(link) = &link.target {
                let request = self.server.resolve_link(link);
                let target = self.answer(request).flatten();
                assert!(!matches!(target, Some(LinkTarget::Unresolved(_))));
            }
        }
    }

    fn ask_for_lenses(&mut self) {
        let request = self.server.code_lenses(&document());
        let lenses = self.answer(request).unwrap_or_default();
        let spans: Vec<Span> = lenses.iter().map(|lens| lens.span).collect();
        self.check_sorted(&spans);
        for lens in lenses.iter().take(4) {
            let command = match &lens.command {
                LensCommand::Known(command) => Some(command.clone()),
                LensCommand::Unresolved(lens) => {
                    let request = self.server.resolve_lens(lens);
                    self.answer(request).flatten()
                }
            };
            let Some(command) = command else { continue };
            let locations = self.server.shown_locations(&command).unwrap_or_default();
            let text = Snapshot::new(&self.text);
            let spans = locations.iter().filter_map(|it| it.range.span(&text));
            spans.for_each(|span| self.check(span));
        }
    }

    fn ask_for_spans(&mut self) {
        let document = document();
        let request = self.server.document_colors(&document);
        let colors = self.answer(request).unwrap_or_default().into_iter();
        let spans: Vec<Span> = colors.map(|DocumentColor { span, .. }| span).collect();
        self.check_sorted(&spans);
        let request = self.server.folding_ranges(&document);
        let folds = self.answer(request).unwrap_or_default().into_iter();
        let spans: Vec<Span> = folds.map(|FoldingRange { span, .. }| span).collect();
        self.check_sorted(&spans);
        let offset = random::boundary(&mut self.rng, &self.text);
        let request = self.server.linked_spans(&document, offset);
        let spans = self.answer(request).unwrap_or_default();
        spans.into_iter().for_each(|span| self.check(span));
        let request = self.server.inlay_hints(&document, Span::at(offset));
        let hints = self.answer(request).unwrap_or_default().into_iter();
        let spans: Vec<Span> = hints.map(|hint| Span::at(hint.at)).collect();
        self.check_sorted(&spans);
    }

    fn ask_for_selections(&mut self) {
        let count = self.rng.random_range(0..4);
        let offsets: Vec<ByteOffset> = (0..count)
            .map(|_| random::boundary(&mut self.rng, &self.text))
            .collect();
        let request = self.server.selection_ranges(&document(), &offsets);
        let Some(selections) = self.answer(request) else {
            return;
        };
        assert_eq!(selections.len(), offsets.len());
        for (spans, offset) in selections.iter().zip(offsets) {
            let mut within = Span::at(offset);
            for span in spans {
                assert!(span.covers(within), "{offset:?} {spans:?}");
                self.check(*span);
                within = *span;
            }
        }
    }

    fn pull_workspace(&mut self) {
        let pull = self.server.pull_workspace_diagnostics().expect("offered");
        self.respond();
        // An error is a result, too.
        pull.wait(WAIT).ok();
        let text = Snapshot::new(&self.text);
        for (path, _) in self.server.take_unopened_changes() {
            for diagnostic in self.server.unopened_diagnostics(&path) {
                let span = diagnostic.range.span(&text);
                span.into_iter().for_each(|span| self.check(span));
            }
        }
    }
}

fn check(encoding: &str, seed: u64) {
    let mut world = World::new(encoding, seed);
    for _ in 0..random::rounds(150, 10_000) {
        world.replace_text();
        world.ask_for_tokens();
        world.ask_for_links();
        world.ask_for_lenses();
        world.ask_for_spans();
        world.ask_for_selections();
        world.pull_workspace();
    }
    // The answers are not merely refused.
    assert!(world.count > 300, "{}", world.count);
    let violations = world.server.violations();
    assert!(violations.len() > 3, "{violations:?}");
}

#[test]
fn typed_random_annotations_lie_in_their_text() {
    for (encoding, seed) in [("utf-8", 1), ("utf-16", 2), ("utf-32", 3)] {
        check(encoding, seed);
    }
}

/// Checks that of an answer with `sent` equal items `kept` are read.
fn check_bound<T>(
    method: &str,
    request: impl Fn(&LanguageServer) -> Option<Request<Vec<T>>>,
    item: &Value,
    (sent, kept): (usize, usize),
) {
    let (server, _events, mut fake) = with_document(capabilities("utf-16"), "abc\ndef");
    let request = request(&server).expect("offered");
    let asked = fake.expect(method);
    fake.respond(&asked, Value::from(vec![item.clone(); sent]));
    let read = request.wait(WAIT).expect("an answer");
    assert_eq!(read.len(), kept, "{method}");
    let dropped = format!("{} dropped items", sent - kept);
    assert_eq!(server.violations(), [dropped], "{method}");
}

#[test]
fn long_lists_of_annotations_are_cut() {
    let (start, end) = (
        json!({ "line": 0, "character": 0 }),
        json!({ "line": 0, "character": 1 }),
    );
    let range = json!({ "start": start, "end": end });
    let link = json!({ "range": range });
    let links = |server: &LanguageServer| server.document_links(&document());
    check_bound("textDocument/documentLink", links, &link, (20_002, 20_000));
    let lenses = |server: &LanguageServer| server.code_lenses(&document());
    check_bound("textDocument/codeLens", lenses, &link, (5_002, 5_000));
    let color = json!({ "red": 1, "green": 1, "blue": 1 });
    let color = json!({ "range": range, "color": color });
    let colors = |server: &LanguageServer| server.document_colors(&document());
    let method = "textDocument/documentColor";
    check_bound(method, colors, &color, (20_002, 20_000));
}
