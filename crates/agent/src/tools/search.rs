//! `semantic_search`, `symbols`, `web_search`, `diagnostics`: what others know, where they are plugged in.

use std::sync::Arc;

use futures::future::BoxFuture;
use model::{Profile, ToolSpec};

use crate::outcome::Outcome;
use crate::sources::{Complaint, Page, Place};
use crate::tool::{Access, Answer, Call, Scope, Shown, Tool, ToolClass, ToolContext};

use super::arguments::Arguments;
use super::place::place;
use super::{Options, cut, invalid, of, spec, unexpected};

/// Places that are shown where the call does not say how many.
const PLACES: u64 = 10;
/// Places at most.
const MOST: u64 = 50;
/// Bytes of a place's text.
const TEXT: usize = 1200;

/// Searches by meaning.
pub(super) struct SemanticSearch {
    options: Arc<Options>,
}

/// Finds where symbols are defined.
pub(super) struct Symbols {
    options: Arc<Options>,
}

/// Tells what is wrong with files.
pub(super) struct Diagnostics {
    options: Arc<Options>,
}

/// Searches the web.
pub(super) struct WebSearch {
    options: Arc<Options>,
}

macro_rules! made_of_options {
    ($($tool:ident),*) => {$(
        impl $tool {
            pub(super) fn new(options: &Arc<Options>) -> Self {
                Self { options: Arc::clone(options) }
            }
        }
    )*};
}
made_of_options!(SemanticSearch, Symbols, Diagnostics, WebSearch);

/// A provider's failure as an answer.
fn failed(tool: &str, error: &str) -> Answer {
    let text = format!("{tool} failed: {error}. Try again later, or look with grep and read.");
    Answer::new(Outcome::ProviderError, text)
}

fn unplugged(tool: &str) -> Answer {
    unexpected(format!(
        "{tool} is not set up here; look with grep and read."
    ))
}

fn limit(arguments: &Arguments<'_>) -> Result<usize, Answer> {
    let limit = arguments.number("limit")?.unwrap_or(PLACES).clamp(1, MOST);
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn needed(arguments: &Arguments<'_>, tool: &str, name: &str) -> Result<String, Answer> {
    let text = arguments.needed(name)?.trim();
    match text.is_empty() {
        true => Err(invalid(format!(
            "{tool}: `{name}` is empty; say what to look for"
        ))),
        false => Ok(text.to_owned()),
    }
}

/// Answers with what a future gives, unless the person stops it first.
async fn unless_stopped<T>(
    context: &ToolContext,
    work: impl Future<Output = T>,
) -> Result<T, Answer> {
    let mut stop = context.stop.clone();
    let stopped = async {
        if stop.wait_for(|stop| *stop).await.is_err() {
            // Nobody is left who could stop it this way.
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        () = stopped => Err(Answer::new(Outcome::UserAborted, "Stopped by the person.")),
        done = work => Ok(done),
    }
}

fn settled(result: Result<Answer, Answer>) -> Answer {
    result.unwrap_or_else(|answer| answer)
}

impl Tool for SemanticSearch {
    fn name(&self) -> &str {
        "semantic_search"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Finds code by what it does, from a question in plain words. For an exact text use grep.";
        self.options.has_search.then(|| {
            spec(
                "semantic_search",
                profile,
                description,
                1,
                &[
                    (
                        "query",
                        of(
                            "string",
                            "The question, such as \"where are sessions saved?\"",
                        ),
                    ),
                    ("path", of("string", "Only below this folder")),
                    ("limit", of("integer", "How many places, 10 if left out")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        let query = needed(&arguments, "semantic_search", "query")?;
        limit(&arguments)?;
        let place = place(context, arguments.text("path")?.unwrap_or("."))?;
        Ok(Access {
            reads: vec![place.tree()],
            title: format!("look for {query}"),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move { settled(by_meaning(&self.options, call, context).await) })
    }
}

async fn by_meaning(
    options: &Options,
    call: &Call,
    context: &ToolContext,
) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let query = needed(&arguments, "semantic_search", "query")?;
    let search = context
        .sources
        .search
        .clone()
        .ok_or_else(|| unplugged("semantic_search"))?;
    let folder = match arguments.text("path")? {
        None => None,
        Some(path) => Some(place(context, path)?.shown).filter(|folder| !folder.is_empty()),
    };
    let found = search.by_meaning(&context.root, query.clone(), folder, limit(&arguments)?);
    let found = unless_stopped(context, found).await?;
    let found = found.map_err(|error| failed("semantic_search", &error))?;
    Ok(places(
        options,
        context,
        &found,
        &format!("Nothing fits {query:?}; try other words, or grep."),
    ))
}

impl Tool for Symbols {
    fn name(&self) -> &str {
        "symbols"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Finds where functions, types and the like are defined, by name or a part of it.";
        self.options.has_search.then(|| {
            spec(
                "symbols",
                profile,
                description,
                1,
                &[
                    ("name", of("string", "The name")),
                    ("limit", of("integer", "How many places, 10 if left out")),
                ],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        let arguments = Arguments::of(call)?;
        let name = needed(&arguments, "symbols", "name")?;
        limit(&arguments)?;
        Ok(Access {
            reads: vec![Scope::Tree(String::new())],
            title: format!("find the definition of {name}"),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move { settled(symbols(&self.options, call, context).await) })
    }
}

async fn symbols(options: &Options, call: &Call, context: &ToolContext) -> Result<Answer, Answer> {
    let arguments = Arguments::of(call)?;
    let name = needed(&arguments, "symbols", "name")?;
    let search = context
        .sources
        .search
        .clone()
        .ok_or_else(|| unplugged("symbols"))?;
    let found = unless_stopped(
        context,
        search.symbols(&context.root, name.clone(), limit(&arguments)?),
    )
    .await?;
    let found = found.map_err(|error| failed("symbols", &error))?;
    Ok(places(
        options,
        context,
        &found,
        &format!("No symbol is called like {name}; try grep."),
    ))
}

fn places(options: &Options, context: &ToolContext, found: &[Place], none: &str) -> Answer {
    if found.is_empty() {
        return Answer::ok(none);
    }
    let mut text = String::new();
    for place in found {
        let (first, last) = place.lines;
        let symbol = place.symbol.as_ref().map(|symbol| format!(" {symbol}"));
        text.push_str(&format!(
            "{}:{first}-{last}{}\n",
            place.path,
            symbol.unwrap_or_default()
        ));
        let end = cut::floor(&place.text, TEXT);
        text.push_str(place.text[..end].trim_end_matches('\n'));
        text.push_str(if end < place.text.len() {
            "\n…\n\n"
        } else {
            "\n\n"
        });
    }
    let shown = found.iter().map(|place| {
        let line = place.text.lines().next().unwrap_or_default();
        (place.path.clone(), place.lines.0, line.to_owned())
    });
    let shown = Shown::Places(shown.collect());
    cut::answer(context, &options.rooms.of(context), text).showing(shown)
}

impl Tool for Diagnostics {
    fn name(&self) -> &str {
        "diagnostics"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description =
            "Tells errors and warnings of language servers and linters, of some files or all.";
        self.options.has_diagnostics.then(|| spec("diagnostics", profile, description, 0, &[(
            "paths",
            serde_json::json!({ "type": "array", "items": { "type": "string" }, "description": "The files; all known ones if left out" }),
        )]))
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, context: &ToolContext) -> Result<Access, Answer> {
        let paths = Arguments::of(call)?.texts("paths")?;
        let places = paths.iter().map(|path| place(context, path));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let reads = match places.is_empty() {
            true => vec![Scope::Tree(String::new())],
            false => places.iter().map(super::place::Place::scope).collect(),
        };
        Ok(Access {
            reads,
            title: "look for errors and warnings".to_owned(),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move { settled(diagnostics(&self.options, call, context).await) })
    }
}

async fn diagnostics(
    options: &Options,
    call: &Call,
    context: &ToolContext,
) -> Result<Answer, Answer> {
    let paths = Arguments::of(call)?.texts("paths")?;
    let source = context
        .sources
        .diagnostics
        .clone()
        .ok_or_else(|| unplugged("diagnostics"))?;
    let places = paths
        .iter()
        .map(|path| place(context, path).map(|place| place.path));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let found = unless_stopped(context, source.of(places)).await?;
    let mut found = found.map_err(|error| failed("diagnostics", &error))?;
    if found.is_empty() {
        return Ok(Answer::ok("No errors and no warnings."));
    }
    found.sort_by(|one, two| {
        (!one.is_error, &one.path, one.line).cmp(&(!two.is_error, &two.path, two.line))
    });
    let text: String = found.iter().map(complaint).collect();
    let shown = found
        .iter()
        .map(|it| (it.path.clone(), it.line, it.message.clone()));
    let shown = Shown::Places(shown.collect());
    Ok(cut::answer(context, &options.rooms.of(context), text).showing(shown))
}

fn complaint(it: &Complaint) -> String {
    let kind = if it.is_error { "error" } else { "warning" };
    format!("{}:{}: {kind}: {}\n", it.path, it.line, it.message)
}

impl Tool for WebSearch {
    fn name(&self) -> &str {
        "web_search"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let description = "Searches the web; answers with titles, addresses and pieces of pages. Read a page with fetch.";
        self.options.has_web.then(|| {
            spec(
                "web_search",
                profile,
                description,
                1,
                &[("query", of("string", "What to search for"))],
            )
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Network
    }

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        let query = needed(&Arguments::of(call)?, "web_search", "query")?;
        Ok(Access {
            title: format!("search the web for {query}"),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move { settled(web_search(&self.options, call, context).await) })
    }
}

async fn web_search(
    options: &Options,
    call: &Call,
    context: &ToolContext,
) -> Result<Answer, Answer> {
    let query = needed(&Arguments::of(call)?, "web_search", "query")?;
    let web = context
        .sources
        .web
        .clone()
        .ok_or_else(|| unplugged("web_search"))?;
    let found = unless_stopped(context, web.search(query.clone())).await?;
    let found = found.map_err(|error| failed("web_search", &error))?;
    if found.is_empty() {
        return Ok(Answer::ok(format!(
            "Nothing was found for {query:?}; try other words."
        )));
    }
    let text: String = found.iter().map(page).collect();
    Ok(cut::answer(context, &options.rooms.of(context), text))
}

fn page(page: &Page) -> String {
    format!("{}\n{}\n{}\n\n", page.title, page.url, page.excerpt)
}
