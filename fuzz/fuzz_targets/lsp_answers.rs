//! Answers of a language server, whatever they contain, give spans of the document on char boundaries.
//!
//! The input consists of parts that end with a zero byte: the text, then the answers in the order of the requests.
#![no_main]

use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, ByteOffset, Span};
use burin_fuzz::lsp::scripted_server;
use libfuzzer_sys::fuzz_target;
use lsp::{
    ClientInfo, LanguageServer, LensCommand, LinkTarget, Request, SemanticTokens, ServerOptions,
};
use text::Snapshot;

const WAIT: Duration = Duration::from_secs(10);

const CAPABILITIES: &str = r#"{
    "textDocumentSync": 2, "inlayHintProvider": true,
    "semanticTokensProvider": {
        "legend": { "tokenTypes": ["type"], "tokenModifiers": ["static"] },
        "full": { "delta": true }, "range": true
    },
    "documentLinkProvider": { "resolveProvider": true }, "codeLensProvider": { "resolveProvider": true },
    "colorProvider": true, "foldingRangeProvider": true, "selectionRangeProvider": true,
    "linkedEditingRangeProvider": true,
    "diagnosticProvider": { "identifier": "x", "workspaceDiagnostics": true }
}"#;

/// A client with one open document.
struct Client {
    server: LanguageServer,
    path: AbsPath,
    text: String,
}

impl Client {
    fn connect(text: &str, answers: VecDeque<String>) -> Self {
        let options = ServerOptions {
            client: ClientInfo {
                name: "fuzz".to_owned(),
                version: "1".to_owned(),
            },
            process_id: None,
            folders: Vec::new(),
            initialization_options: Default::default(),
            configuration: Default::default(),
            log: None,
        };
        let (input, output) = scripted_server(CAPABILITIES.to_owned(), answers);
        let (server, _events) = LanguageServer::connect(options, input, output).expect("threads");
        server.initialize(WAIT).expect("valid capabilities");
        let path = AbsPath::new("/w/a.rs").expect("absolute");
        let text = Snapshot::new(text);
        server.open_document(&path, "rust", &text);
        let text = text.to_string();
        Self { server, path, text }
    }

    fn check(&self, span: Span) {
        assert!(
            self.text.get(span.start.0..span.end.0).is_some(),
            "{span:?}"
        );
    }

    fn check_all(&self, spans: impl Iterator<Item = Span>) {
        spans.for_each(|span| self.check(span));
    }

    fn check_tokens(&self, tokens: Option<&SemanticTokens>) {
        let tokens = tokens.into_iter().flat_map(|tokens| &tokens.tokens);
        let mut last = ByteOffset(0);
        for token in tokens {
            assert!(last <= token.span.start && !token.span.is_empty());
            self.check(token.span);
            last = token.span.end;
        }
    }

    fn ask_for_tokens(&self) {
        let first = wait(self.server.semantic_tokens(&self.path, None));
        let second = wait(self.server.semantic_tokens(&self.path, first.as_ref()));
        let third = wait(self.server.semantic_tokens(&self.path, second.as_ref()));
        let span = Span::from(0..self.text.len());
        let part = wait(self.server.semantic_tokens_in(&self.path, span));
        for tokens in [first, second, third, part] {
            self.check_tokens(tokens.as_ref());
        }
    }

    fn ask_for_links(&self) {
        let links = wait(self.server.document_links(&self.path)).unwrap_or_default();
        self.check_all(links.iter().map(|link| link.span));
        for link in links.iter().take(4) {
            if let LinkTarget::Unresolved(link) = &link.target {
                wait(self.server.resolve_link(link));
            }
        }
        let lenses = wait(self.server.code_lenses(&self.path)).unwrap_or_default();
        self.check_all(lenses.iter().map(|lens| lens.span));
        for lens in lenses.iter().take(4) {
            match &lens.command {
                LensCommand::Known(command) => drop(self.server.shown_locations(command)),
                LensCommand::Unresolved(lens) => drop(wait(self.server.resolve_lens(lens))),
            }
        }
    }

    fn ask_for_spans(&self) {
        let colors = wait(self.server.document_colors(&self.path)).unwrap_or_default();
        self.check_all(colors.iter().map(|color| color.span));
        let folds = wait(self.server.folding_ranges(&self.path)).unwrap_or_default();
        self.check_all(folds.iter().map(|fold| fold.span));
        let span = Span::from(0..self.text.len());
        let hints = wait(self.server.inlay_hints(&self.path, span)).unwrap_or_default();
        self.check_all(hints.iter().map(|hint| Span::at(hint.at)));
        let middle = ByteOffset(self.text.floor_char_boundary(self.text.len() / 2));
        let linked = wait(self.server.linked_spans(&self.path, middle));
        self.check_all(linked.unwrap_or_default().into_iter());
        let offsets = [ByteOffset(0), middle];
        let around = wait(self.server.selection_ranges(&self.path, &offsets));
        for (spans, offset) in around.unwrap_or_default().iter().zip(offsets) {
            let mut within = Span::at(offset);
            for span in spans {
                assert!(span.covers(within));
                self.check(*span);
                within = *span;
            }
        }
    }

    fn pull_workspace(&self) {
        let text = Snapshot::new(&self.text);
        // The second answer may confirm the first.
        for _ in 0..2 {
            let pull = self.server.pull_workspace_diagnostics().expect("offered");
            // Errors are as good as answers.
            pull.wait(WAIT).ok();
            for (path, _) in self.server.take_unopened_changes() {
                let diagnostics = self.server.unopened_diagnostics(&path);
                self.check_all(diagnostics.iter().filter_map(|it| it.range.span(&text)));
            }
        }
    }
}

/// Waits for an answer; an error is one, too.
fn wait<T>(request: Option<Request<T>>) -> Option<T> {
    request.expect("offered").wait(WAIT).ok()
}

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0);
    let mut part = || {
        parts
            .next()
            .map(|part| String::from_utf8_lossy(part).into_owned())
    };
    let text = part().unwrap_or_default();
    let client = Client::connect(&text, std::iter::from_fn(part).collect());
    client.ask_for_tokens();
    client.ask_for_links();
    client.ask_for_spans();
    client.pull_workspace();
});
