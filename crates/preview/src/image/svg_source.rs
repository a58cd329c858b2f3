//! The source of a drawing: how many elements it amounts to when all that it refers to is put in its place.
//!
//! A drawing can use a part of itself any number of times, also within that part's own parts, and patterns, masks and
//! filters do the same; some lines of text then amount to billions of elements.
//! Start at `check`.

use std::collections::HashMap;

use resvg::usvg::roxmltree::{Document, Node, ParsingOptions};

use super::{ImageError, ImageFormat};

/// Maximum length of the text of a drawing.
const MAX_TEXT: usize = 8 << 20;
/// Maximum number of elements, attributes and texts of the source.
const MAX_NODES: u32 = 400_000;
/// Maximum number of elements with all that is used.
const MAX_ELEMENTS: u64 = 200_000;
/// Maximum depth of elements in each other with all that is used.
const MAX_DEPTH: u32 = 256;
/// Maximum length of all texts that entities stand for.
const MAX_ENTITY_TEXT: usize = 8 << 20;

/// The elements that an element amounts to.
#[derive(Clone, Copy, Default)]
struct Weight {
    elements: u64,
    depth: u32,
}

/// The elements of a drawing, numbered in the order of the source.
struct Elements<'a, 'input> {
    nodes: Vec<Node<'a, 'input>>,
    /// For each element, the elements that it contains or uses.
    parts: Vec<Vec<usize>>,
}

/// Returns the text of a drawing; refuses compressed ones, whose length is not known before they are unpacked.
pub(super) fn text(bytes: &[u8]) -> Result<&str, ImageError> {
    if bytes.len() > MAX_TEXT {
        return Err(ImageError::TooLong {
            bytes: bytes.len() as u64,
            limit: MAX_TEXT as u64,
        });
    }
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|_| ImageError::damaged(ImageFormat::Svg, &"it is not UTF-8"))?;
    check_entities(text)?;
    Ok(text)
}

/// Parses the text, within limits.
pub(super) fn parse(text: &str) -> Result<Document<'_>, ImageError> {
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options)
        .map_err(|error| ImageError::damaged(ImageFormat::Svg, &error))
}

/// Refuses entities that stand for entities, and those that stand for too much text.
fn check_entities(text: &str) -> Result<(), ImageError> {
    let Some(start) = text.find("<!ENTITY") else {
        return Ok(());
    };
    let end = text.find("<svg").unwrap_or(text.len()).max(start);
    let definitions = &text[start..end];
    let mut longest = 0;
    for definition in definitions.split("<!ENTITY").skip(1) {
        let nested = definition
            .match_indices('&')
            .any(|(at, _)| !definition[at..].starts_with("&#"));
        if nested {
            return Err(ImageError::TooComplex("its entities contain entities"));
        }
        longest = longest.max(definition.len());
    }
    let uses = text[end..].matches('&').count();
    if longest.saturating_mul(uses) > MAX_ENTITY_TEXT {
        return Err(ImageError::TooComplex("its entities are too long"));
    }
    Ok(())
}

/// Refuses a drawing that amounts to too many elements, nests too deep, or uses itself.
pub(super) fn check(document: &Document) -> Result<(), ImageError> {
    let elements = Elements::of(document);
    let weights = elements.weights()?;
    let whole = weights.first().copied().unwrap_or_default();
    if whole.elements > MAX_ELEMENTS {
        return Err(ImageError::TooComplex("it repeats too many elements"));
    }
    if whole.depth > MAX_DEPTH {
        return Err(ImageError::TooComplex("its elements are nested too deep"));
    }
    Ok(())
}

impl<'a, 'input> Elements<'a, 'input> {
    fn of(document: &'a Document<'input>) -> Self {
        let nodes: Vec<Node> = document.descendants().filter(Node::is_element).collect();
        let numbers: HashMap<_, usize> = nodes
            .iter()
            .enumerate()
            .map(|(ix, it)| (it.id(), ix))
            .collect();
        let ids: HashMap<&str, usize> = nodes
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(ix, it)| Some((it.attribute("id")?, ix)))
            .collect();
        let styled = style_references(&nodes, &ids);
        let parts = nodes.iter().map(|node| {
            let children = node
                .children()
                .filter_map(|it| numbers.get(&it.id()).copied());
            let mut parts: Vec<usize> = children.collect();
            parts.extend(references(*node).filter_map(|id| ids.get(id).copied()));
            let is_gradient = |ix: &usize| is_gradient(nodes[*ix]);
            parts.retain(|ix| !is_gradient(ix));
            if !is_definition(*node) {
                parts.extend(&styled);
            }
            parts
        });
        let parts = parts.collect();
        Self { nodes, parts }
    }

    /// Returns what each element amounts to; refuses one that contains itself.
    fn weights(&self) -> Result<Vec<Weight>, ImageError> {
        let mut weights: Vec<Option<Weight>> = vec![None; self.nodes.len()];
        let mut is_open = vec![false; self.nodes.len()];
        // The stack is on the heap: an element and the next of its parts.
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.nodes.len() {
            if weights[root].is_some() {
                continue;
            }
            stack.push((root, 0));
            is_open[root] = true;
            while let Some((ix, next)) = stack.pop() {
                let Some(part) = self.parts[ix].get(next).copied() else {
                    weights[ix] = Some(self.sum(ix, &weights));
                    is_open[ix] = false;
                    continue;
                };
                stack.push((ix, next + 1));
                if is_open[part] {
                    return Err(ImageError::TooComplex("it uses itself"));
                }
                if weights[part].is_none() {
                    is_open[part] = true;
                    stack.push((part, 0));
                }
            }
        }
        Ok(weights.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn sum(&self, ix: usize, weights: &[Option<Weight>]) -> Weight {
        let parts = self.parts[ix].iter().filter_map(|part| weights[*part]);
        let mut sum = Weight {
            elements: 1,
            depth: 0,
        };
        for part in parts {
            sum.elements = sum.elements.saturating_add(part.elements);
            sum.depth = sum.depth.max(part.depth);
        }
        sum.depth = sum.depth.saturating_add(1);
        sum
    }
}

/// Returns the ids to which an element refers.
fn references<'a>(node: Node<'a, '_>) -> impl Iterator<Item = &'a str> {
    let is_link = node.has_tag_name("a") || node.tag_name().name() == "a";
    let attributes = node.attributes();
    attributes.flat_map(move |attribute| {
        let value = attribute.value();
        let href = (attribute.name() == "href" && !is_link).then(|| value.trim().strip_prefix('#'));
        href.flatten().into_iter().chain(urls(value))
    })
}

/// Returns the ids in all `url(#id)` of a text.
fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.split("url(").skip(1).filter_map(|rest| {
        let inside = rest.split(')').next()?.trim();
        inside.trim_matches(['"', '\'']).trim().strip_prefix('#')
    })
}

/// Returns the patterns, masks, filters and the like that style sheets name: they may apply to any element.
fn style_references(nodes: &[Node], ids: &HashMap<&str, usize>) -> Vec<usize> {
    let sheets = nodes.iter().filter(|it| it.tag_name().name() == "style");
    let texts = sheets.flat_map(|it| it.children().filter_map(|child| child.text()));
    let mut found: Vec<usize> = texts
        .flat_map(urls)
        .filter_map(|id| ids.get(id).copied())
        .collect();
    found.sort_unstable();
    found.dedup();
    found.retain(|ix| !is_gradient(nodes[*ix]));
    found
}

fn is_gradient(node: Node) -> bool {
    matches!(node.tag_name().name(), "linearGradient" | "radialGradient")
}

/// Returns whether an element is used by others rather than drawn at its place, or is none that is drawn.
fn is_definition(node: Node) -> bool {
    matches!(
        node.tag_name().name(),
        "defs"
            | "style"
            | "linearGradient"
            | "radialGradient"
            | "stop"
            | "title"
            | "desc"
            | "metadata"
    ) || is_within_definition(node)
}

/// Returns whether an element belongs to a pattern, mask or the like. A style for these would contain itself.
fn is_within_definition(node: Node) -> bool {
    node.ancestors().any(|it| {
        matches!(
            it.tag_name().name(),
            "pattern" | "mask" | "filter" | "clipPath" | "marker"
        )
    })
}
