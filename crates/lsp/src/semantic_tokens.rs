//! Semantic tokens: the types of names that a server knows and a grammar does not.
//!
//! Invariant: the tokens of an answer are sorted and disjoint, and each lies within one row.
//! Invariant: an answer to a delta request is applied only to the tokens of the same connection and document.
//! Start at `LanguageServer::semantic_tokens`.

mod wire;

use std::sync::Arc;

use base::{AbsPath, Revision, Span};
use serde_json::{Value, json};

use self::wire::{WireEdits, WireTokens};
use crate::answer::AnswerError;
use crate::bounded::bounded_id;
use crate::connection::ConnectionId;
use crate::range::range_value;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::Violations;

/// Method under which a server offers tokens; the requests have longer names.
const SEMANTIC_TOKENS: &str = "textDocument/semanticTokens";
/// Maximum number of modifiers in a legend: a token has one bit for each of 32.
const MAX_MODIFIERS: usize = 32;
/// Maximum number of types in a legend.
const MAX_TYPES: usize = 1_000;

/// The semantic tokens of a document or of a part of it.
#[derive(Debug)]
pub struct SemanticTokens {
    /// The tokens: sorted, disjoint.
    pub tokens: Vec<SemanticToken>,
    /// The names of their types and modifiers.
    pub legend: TokenLegend,
    /// The revision of the text to which the spans refer.
    pub revision: Revision,
    /// `None` for a part of the document, and if the server gave the answer no id.
    basis: Option<Arc<DeltaBasis>>,
}

/// A token: its place, its type and its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemanticToken {
    /// The place in the request's text, within one row, not empty.
    pub span: Span,
    /// The index of the type in the legend.
    pub token_type: u32,
    /// The modifiers, a bit for each in the legend.
    pub modifiers: u32,
}

/// The names of the types and modifiers of a server's tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenLegend {
    types: Vec<String>,
    modifiers: Vec<String>,
}

/// The part of a document for which a server offers tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSupport {
    /// Whether it offers those of the whole document.
    pub whole: bool,
    /// Whether it offers those of a span.
    pub range: bool,
}

/// An answer about a whole document, as the server wrote it: the basis of the next delta request.
#[derive(Debug)]
struct DeltaBasis {
    connection: ConnectionId,
    path: AbsPath,
    result_id: String,
    /// Five numbers for each token.
    data: Vec<u32>,
}

impl TokenLegend {
    fn of(options: &Value) -> Self {
        let names = |name: &str, max: usize| {
            let names = options.get("legend").and_then(|legend| legend.get(name));
            let names = names.and_then(Value::as_array).into_iter().flatten();
            let names = names
                .take(max)
                .map(|it| it.as_str().unwrap_or_default().to_owned());
            names.collect()
        };
        Self {
            types: names("tokenTypes", MAX_TYPES),
            modifiers: names("tokenModifiers", MAX_MODIFIERS),
        }
    }

    /// Returns the name of a token's type; `None` if the legend lacks it.
    pub fn type_name(&self, token: &SemanticToken) -> Option<&str> {
        let name = self.types.get(token.token_type as usize)?;
        Some(name)
    }

    /// Returns the names of a token's modifiers.
    pub fn modifier_names(&self, token: &SemanticToken) -> impl Iterator<Item = &str> {
        let bits = token.modifiers;
        let names = self.modifiers.iter().enumerate();
        names.filter_map(move |(bit, name)| (bits >> bit & 1 == 1).then_some(name.as_str()))
    }
}

impl TokenSupport {
    fn of(options: &Value) -> Self {
        Self {
            whole: is_offered(options.get("full")),
            range: is_offered(options.get("range")),
        }
    }
}

/// Returns whether an option given as a flag or as an object is present.
fn is_offered(option: Option<&Value>) -> bool {
    matches!(option, Some(Value::Bool(true) | Value::Object(_)))
}

/// Returns whether the server answers with the difference from an earlier answer.
fn offers_delta(options: &Value) -> bool {
    let delta = options.get("full").and_then(|full| full.get("delta"));
    is_offered(delta)
}

impl LanguageServer {
    /// Returns the parts of an open document for which the server offers tokens; `None` if there are none.
    pub fn token_support(&self, path: &AbsPath) -> Option<TokenSupport> {
        let (support, _) = self.token_offer(path)?;
        (support.whole || support.range).then_some(support)
    }

    /// Returns the parts for which the server offers tokens, and whether it offers differences.
    fn token_offer(&self, path: &AbsPath) -> Option<(TokenSupport, bool)> {
        let connection = self.connection();
        connection.with(|session| {
            let options = session.document_options(SEMANTIC_TOKENS, path);
            let options = options.first()?;
            Some((TokenSupport::of(options), offers_delta(options)))
        })
    }

    /// Asks for the tokens of the text that was passed on last. If the server offers it, only the difference from
    /// `previous` is transferred, which must be the last answer about the document.
    pub fn semantic_tokens(
        &self,
        path: &AbsPath,
        previous: Option<&SemanticTokens>,
    ) -> Option<Request<SemanticTokens>> {
        let (support, offers_delta) = self.token_offer(path)?;
        if !support.whole {
            return None;
        }
        let basis = previous.and_then(|previous| previous.basis.clone());
        let connection = self.connection_id();
        let basis = basis.filter(|basis| {
            let is_same = basis.connection == connection && basis.path == *path;
            is_same && offers_delta
        });
        let own_path = path.clone();
        let method = match basis {
            Some(_) => "textDocument/semanticTokens/full/delta",
            None => "textDocument/semanticTokens/full",
        };
        let previous_id = basis.as_ref().map(|basis| basis.result_id.clone());
        let params = move |_: &RequestDocument| {
            let id = previous_id.map(|id| json!({ "previousResultId": id }));
            Some(id.unwrap_or_else(|| json!({})))
        };
        self.ask_provider(
            (SEMANTIC_TOKENS, method),
            path,
            params,
            move |json, document, violations| {
                let wire = match &basis {
                    Some(basis) => WireEdits::read(json)?.applied_to(&basis.data)?,
                    None => WireTokens::read(json)?,
                };
                let mut answer = read_tokens(&wire.data, document, violations);
                answer.basis = bounded_id(wire.result_id).map(|result_id| {
                    Arc::new(DeltaBasis {
                        connection: connection.clone(),
                        path: own_path.clone(),
                        result_id,
                        data: wire.data,
                    })
                });
                Ok(answer)
            },
        )
    }

    /// Asks for the tokens in a span of the text that was passed on last.
    pub fn semantic_tokens_in(
        &self,
        path: &AbsPath,
        span: Span,
    ) -> Option<Request<SemanticTokens>> {
        let params = |document: &RequestDocument| {
            let range = range_value(&document.text, span, document.encoding);
            let is_offered = TokenSupport::of(&document.options).range;
            is_offered.then(|| json!({ "range": range }))
        };
        let method = "textDocument/semanticTokens/range";
        self.ask_provider(
            (SEMANTIC_TOKENS, method),
            path,
            params,
            |json, document, violations| -> Result<_, AnswerError> {
                let wire = WireTokens::read(json)?;
                Ok(read_tokens(&wire.data, document, violations))
            },
        )
    }
}

fn read_tokens(
    data: &[u32],
    document: &RequestDocument,
    violations: &mut Violations,
) -> SemanticTokens {
    SemanticTokens {
        tokens: wire::decode(data, document, violations),
        legend: TokenLegend::of(&document.options),
        revision: document.text.revision(),
        basis: None,
    }
}
