//! Document links: parts of a text that name a file or a web address.

use base::{AbsPath, Column, Point, Row, Span};
use serde_json::{Value, json};

use crate::answer::{AnswerError, Reading, parse_value, read_list};
use crate::connection::ConnectionId;
use crate::position::PositionEncoding;
use crate::range::WireRange;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::uri::uri_path;
use crate::violations::Violations;

/// Maximum number of links in one answer.
const MAX_LINKS: usize = 20_000;
/// Maximum length of an address, in bytes.
const MAX_ADDRESS: usize = 8 << 10;

/// A part of a text that names something to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// The part, in the request's text.
    pub span: Span,
    /// The target.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A local file.
    File {
        /// The file.
        path: AbsPath,
        /// The row and the byte column that the address names.
        at: Option<Point>,
    },
    /// An address that begins with `http:` or `https:`.
    Web(String),
    /// An address of another scheme, which must not be opened; the scheme.
    Refused(String),
    /// A target that the server names on request: see `LanguageServer::resolve_link`.
    Unresolved(UnresolvedLink),
}

/// A link without a target, as its server wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnresolvedLink {
    item: Value,
    connection: ConnectionId,
}

impl LinkTarget {
    fn of(address: &str) -> Option<Self> {
        if address.len() > MAX_ADDRESS || address.contains(char::is_control) {
            return None;
        }
        let (scheme, rest) = address.split_once(':')?;
        if ["http", "https"]
            .iter()
            .any(|it| scheme.eq_ignore_ascii_case(it))
        {
            let is_address = rest.starts_with("//") && !rest.contains(char::is_whitespace);
            return is_address.then(|| Self::Web(address.to_owned()));
        }
        let path = uri_path(address);
        let fragment = rest
            .split_once('#')
            .and_then(|(_, fragment)| place(fragment));
        Some(match path {
            Some(path) => Self::File { path, at: fragment },
            None => Self::Refused(scheme.to_owned()),
        })
    }
}

/// Reads a row and a column, counted from 1: `L3`, `L3,7`, `3`, or the start of `L3-L5`.
fn place(fragment: &str) -> Option<Point> {
    let start = fragment.split('-').next()?;
    let mut numbers = start.trim_start_matches('L').split([',', ':']);
    let row: u32 = numbers.next()?.parse().ok()?;
    let column: u32 = numbers.next().and_then(|it| it.parse().ok()).unwrap_or(1);
    Some(Point {
        row: Row(row.saturating_sub(1)),
        column: Column(column.saturating_sub(1)),
    })
}

impl LanguageServer {
    /// Asks for the links of the text that was passed on last, sorted by their places.
    pub fn document_links(&self, path: &AbsPath) -> Option<Request<Vec<DocumentLink>>> {
        let method = "textDocument/documentLink";
        let params = |_: &RequestDocument| Some(json!({}));
        let connection = self.connection_id();
        self.ask_document(method, path, params, move |json, document, violations| {
            let offers_resolve = document.offers_resolve();
            let links = read_list::<_, MAX_LINKS>(json, violations, |item, violations| {
                read_link(
                    item,
                    (&connection, offers_resolve),
                    &mut Reading::new(document, violations),
                )
            });
            let mut links: Vec<DocumentLink> = links?.into_iter().flatten().collect();
            links.sort_by_key(|link| link.span);
            Ok(links)
        })
    }

    /// Asks for the target of a link, which may have none; `None` if it is a link of another server.
    pub fn resolve_link(&self, link: &UnresolvedLink) -> Option<Request<Option<LinkTarget>>> {
        if link.connection != self.connection_id() {
            return None;
        }
        let read = |json: &str, _: PositionEncoding, _: &mut Violations| {
            let answer = parse_value(json)?;
            if !answer.is_object() && !answer.is_null() {
                return Err(AnswerError::new("neither an object nor null"));
            }
            Ok(target(&answer))
        };
        let (method, item) = ("documentLink/resolve", link.item.clone());
        self.ask_workspace(method, item, ServerSession::is_running, read)
    }
}

fn target(item: &Value) -> Option<LinkTarget> {
    LinkTarget::of(item.get("target")?.as_str()?)
}

/// Reads a link; `None` if it is malformed, `Some(None)` if it lies beyond the text or can have no target.
fn read_link(
    item: &Value,
    (connection, offers_resolve): (&ConnectionId, bool),
    reading: &mut Reading<'_>,
) -> Option<Option<DocumentLink>> {
    let range = WireRange::of(item.get("range")?)?;
    let is_open = item.get("target").is_none_or(Value::is_null);
    let unresolved = (is_open && offers_resolve).then(|| {
        LinkTarget::Unresolved(UnresolvedLink {
            item: item.clone(),
            connection: connection.clone(),
        })
    });
    let span = reading.wire_span(range).filter(|span| !span.is_empty());
    let target = target(item).or(unresolved);
    Some(
        span.zip(target)
            .map(|(span, target)| DocumentLink { span, target }),
    )
}

#[cfg(test)]
mod tests {
    use base::{AbsPath, Column, Point, Row};
    use serde_json::{Value, json};

    use super::{LinkTarget, read_link};
    use crate::answer::Reading;
    use crate::connection::ConnectionId;
    use crate::testing::{document, violations_of};

    fn check(address: &str, expected: Option<LinkTarget>) {
        assert_eq!(LinkTarget::of(address), expected, "{address}");
    }

    fn file(path: &str, at: Option<(u32, u32)>) -> Option<LinkTarget> {
        let path = AbsPath::new(path).expect("absolute");
        let at = at.map(|(row, column)| Point {
            row: Row(row),
            column: Column(column),
        });
        Some(LinkTarget::File { path, at })
    }

    #[test]
    fn an_address_names_a_file_or_a_page() {
        check("file:///w/a%20b.rs", file("/w/a b.rs", None));
        check("file:///w/a.rs#L3,7", file("/w/a.rs", Some((2, 6))));
        check("file:///w/a.rs#L3-L5", file("/w/a.rs", Some((2, 0))));
        check("file:///w/a.rs#12", file("/w/a.rs", Some((11, 0))));
        check("file:///w/a.md#heading", file("/w/a.md", None));
        let page = "HTTPS://example.org/x?y#z";
        check(page, Some(LinkTarget::Web(page.to_owned())));
    }

    #[test]
    fn other_schemes_are_refused() {
        for address in ["command:run", "javascript:x", "file://host/a", "vscode://x"] {
            let scheme = address.split(':').next().unwrap_or_default();
            check(address, Some(LinkTarget::Refused(scheme.to_owned())));
        }
        for address in ["", "no scheme", "http:x", "https://a b", "https://a\n"] {
            check(address, None);
        }
    }

    fn read(item: Value, offers_resolve: bool) -> Option<Option<bool>> {
        let document = document("see a.rs");
        let server = (&ConnectionId::default(), offers_resolve);
        let read = |it: &mut _| read_link(&item, server, &mut Reading::new(&document, it));
        let (link, _) = violations_of(read);
        link.map(|link| link.map(|link| matches!(link.target, LinkTarget::Unresolved(_))))
    }

    #[test]
    fn a_link_without_a_target_needs_resolution() {
        let range =
            json!({ "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 8 } });
        let with_target = json!({ "range": range, "target": "file:///w/a.rs" });
        assert_eq!(read(with_target.clone(), true), Some(Some(false)));
        assert_eq!(
            read(json!({ "range": range, "data": 1 }), true),
            Some(Some(true))
        );
        assert_eq!(
            read(json!({ "range": range, "data": 1 }), false),
            Some(None)
        );
        assert_eq!(
            read(json!({ "range": range, "target": 7 }), true),
            Some(None)
        );
        assert_eq!(read(json!({ "target": "file:///w/a.rs" }), true), None);
    }
}
