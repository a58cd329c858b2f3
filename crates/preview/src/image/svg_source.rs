//! The source of a drawing: how many elements it amounts to when all that it refers to is put in its place.
//!
//! A drawing can use a part of itself any number of times, also within that part's own parts, and patterns, masks and
//! filters do the same; some lines of text then amount to billions of elements.
//! Start at `check`.

use std::collections::HashMap;

use resvg::usvg::roxmltree::{Document, Node, ParsingOptions};

use super::{ImageError, ImageFormat};

/// Maximum number of selectors times declarations of all style sheets.
const MAX_STYLE_COPIES: f64 = 8.0e6;
/// Maximum number of comparisons of selectors with elements.
const MAX_STYLE_TRIES: f64 = 2.0e8;
/// Maximum length of the text of a drawing.
const MAX_TEXT: usize = 8 << 20;
/// Maximum number of elements, attributes and texts of the source.
const MAX_NODES: u32 = 400_000;
/// Maximum number of elements with all that is used.
const MAX_ELEMENTS: u64 = 200_000;
/// Maximum depth of elements in each other with all that is used.
const MAX_DEPTH: u32 = 256;
/// Maximum number of parts other than gradients to which style sheets refer.
const MAX_STYLE_REFERENCES: usize = 64;
/// Maximum length of all texts that entities stand for.
const MAX_ENTITY_TEXT: usize = 8 << 20;

/// The elements that an element amounts to.
#[derive(Clone, Copy, Default)]
struct Weight {
    elements: u64,
    depth: u32,
}

/// The elements of a drawing, numbered in the order of the source.
struct Elements {
    /// For each element, the elements that it contains or uses; gradients are none.
    parts: Vec<Vec<usize>>,
}

/// The namespace of SVG.
const NAMESPACE: &str = "http://www.w3.org/2000/svg";

const TOO_DEEP: ImageError = ImageError::TooComplex("its elements are nested too deep");

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
    let document = Document::parse_with_options(text, options)
        .map_err(|error| ImageError::damaged(ImageFormat::Svg, &error))?;
    // Browsers refuse such a file as well; the library would draw an empty image.
    if !document.root_element().has_tag_name((NAMESPACE, "svg")) {
        let cause = "it has no root element of SVG";
        return Err(ImageError::damaged(ImageFormat::Svg, &cause));
    }
    Ok(document)
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
    let elements = Elements::of(document)?;
    let weights = elements.weights()?;
    let whole = weights.first().copied().unwrap_or_default();
    if whole.elements > MAX_ELEMENTS {
        return Err(ImageError::TooComplex("it repeats too many elements"));
    }
    if whole.depth > MAX_DEPTH {
        return Err(TOO_DEEP);
    }
    check_styles(document, whole)
}

/// Refuses style sheets that cost too much: the library copies the declarations of a rule for each of its selectors,
/// compares each selector with each element, and tries all elements around it for each further part of a selector.
fn check_styles(document: &Document, whole: Weight) -> Result<(), ImageError> {
    const REFUSED: ImageError = ImageError::TooComplex("its style sheets are too large");
    let (mut selectors, mut declarations, mut tries) = (0.0_f64, 0.0_f64, 0.0_f64);
    let sheets = document
        .descendants()
        .filter(|it| it.tag_name().name() == "style");
    let texts = sheets.flat_map(|sheet| sheet.children().filter_map(|it| it.text()));
    for text in texts {
        let text = without_comments(text);
        declarations += text.matches(':').count() as f64;
        // A bracket in an attribute selector would hide where a rule begins.
        let mut attributes = text.split('[').skip(1);
        let is_hidden = |it: &str| {
            let attribute = it.split(']').next().unwrap_or_default();
            attribute.contains(['{', '}', ','])
        };
        if attributes.any(is_hidden) {
            return Err(REFUSED);
        }
        let heads = text.split('{').filter_map(|it| it.rsplit('}').next());
        for selector in heads.flat_map(|head| head.split(',')) {
            let parts = selector.split([' ', '\t', '\r', '\n', '\u{c}', '>', '+']);
            let parts = parts.filter(|it| !it.is_empty()).count();
            let around = i32::try_from(parts.saturating_sub(1)).unwrap_or(i32::MAX);
            selectors += 1.0;
            tries += (whole.depth as f64).powi(around);
        }
    }
    let is_costly = selectors * declarations > MAX_STYLE_COPIES
        || tries * whole.elements as f64 > MAX_STYLE_TRIES;
    if is_costly { Err(REFUSED) } else { Ok(()) }
}

fn without_comments(text: &str) -> String {
    let (mut rest, mut kept) = (text, String::with_capacity(text.len()));
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        kept.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

impl Elements {
    /// Refuses elements that are nested too deep, and style sheets that could nest them too deep.
    fn of(document: &Document) -> Result<Self, ImageError> {
        let nodes: Vec<Node> = document.descendants().filter(Node::is_element).collect();
        let numbers: HashMap<_, usize> = nodes
            .iter()
            .enumerate()
            .map(|(ix, it)| (it.id(), ix))
            .collect();
        check_depth(&nodes, |node| numbers.get(&node.id()).copied())?;
        let ids: HashMap<&str, usize> = nodes
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(ix, it)| Some((it.attribute("id")?, ix)))
            .collect();
        let number_of = |id: &str| ids.get(id).copied().filter(|ix| !is_gradient(nodes[*ix]));
        if style_references(&nodes).filter_map(number_of).count() > MAX_STYLE_REFERENCES {
            return Err(ImageError::TooComplex(
                "its style sheets refer to too many parts",
            ));
        }
        let parts = nodes.iter().map(|node| {
            let children = node.children();
            let children = children.filter_map(|it| numbers.get(&it.id()).copied());
            children
                .chain(references(*node).filter_map(number_of))
                .collect()
        });
        Ok(Self {
            parts: parts.collect(),
        })
    }

    /// Returns what each element amounts to; refuses one that contains itself.
    fn weights(&self) -> Result<Vec<Weight>, ImageError> {
        let mut weights: Vec<Option<Weight>> = vec![None; self.parts.len()];
        let mut is_open = vec![false; self.parts.len()];
        // The stack is on the heap: an element and the next of its parts.
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.parts.len() {
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

/// Refuses elements that are nested too deep, before anything walks up from one.
fn check_depth(nodes: &[Node], number: impl Fn(Node) -> Option<usize>) -> Result<(), ImageError> {
    let mut depths: Vec<u32> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = node.parent_element().and_then(&number);
        let depth = parent.and_then(|ix| depths.get(ix)).map_or(0, |it| it + 1);
        if depth > MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        depths.push(depth);
    }
    Ok(())
}

/// Returns the ids to which an element refers.
fn references<'a>(node: Node<'a, '_>) -> impl Iterator<Item = &'a str> {
    let is_link = node.tag_name().name() == "a";
    node.attributes().flat_map(move |attribute| {
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

/// Returns the ids that style sheets name. They may apply to any element, so that a chain of them can nest as deep as
/// there are ids.
fn style_references<'a>(nodes: &'a [Node<'a, '_>]) -> impl Iterator<Item = &'a str> {
    let sheets = nodes.iter().filter(|it| it.tag_name().name() == "style");
    let texts = sheets.flat_map(|it| it.children().filter_map(|child| child.text()));
    texts.flat_map(urls)
}

fn is_gradient(node: Node) -> bool {
    matches!(node.tag_name().name(), "linearGradient" | "radialGradient")
}
