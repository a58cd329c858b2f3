//! Which names the types of a text have, as far as its outline knows for sure.
//!
//! Only two things are sure without a compiler: the variants of an enumeration that is written in the text, and the
//! fields of a structure of a language without inheritance. Everything else counts as known.

use std::collections::{HashMap, HashSet};

use base::{AbsPath, ByteOffset};
use syntax::{OutlineItem, OutlineKind};

use super::suffix::is_word;
use crate::{Part, Scene, Suggestion};

/// Names of one text's types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    file: Option<AbsPath>,
    language: &'static str,
    variants: HashMap<String, HashSet<String>>,
    fields: HashMap<String, HashSet<String>>,
}

impl Names {
    /// Reads the outline of a scene. Takes time in proportion to the text: for a background thread.
    pub fn of(scene: &Scene) -> Option<Self> {
        let syntax = scene.syntax.as_ref()?;
        let items = syntax.outline(&scene.snapshot);
        let inner = |of: &OutlineItem| -> HashSet<String> {
            let inside = |it: &&OutlineItem| of.span.covers(it.span) && it.depth > of.depth;
            let items = items.iter().filter(inside);
            items.map(|it| it.name.clone()).collect()
        };
        let typed = |kind: OutlineKind| {
            let types = items.iter().filter(|it| it.kind == kind);
            let types = types.map(|it| (it.name.clone(), inner(it)));
            // One that shows nothing may be made by a macro, or be a declaration only.
            types
                .filter(|(_, inner)| !inner.is_empty())
                .collect::<HashMap<_, _>>()
        };
        Some(Self {
            file: scene.path.clone(),
            language: syntax.language().name(),
            variants: typed(OutlineKind::Enum),
            fields: typed(OutlineKind::Struct),
        })
    }

    /// The first name that a suggestion uses and its type surely does not have.
    pub(super) fn unknown(&self, scene: &Scene, suggestion: &Suggestion) -> Option<String> {
        if self.file != scene.path || self.is_empty() {
            return None;
        }
        suggestion.taking(Part::All).iter().find_map(|edit| {
            // The name may begin before the place: `Kind::` stands there, `Gra` comes in.
            let before = super::text_up_to(&scene.snapshot, edit.span.start, 128);
            let text = format!("{before}{}", edit.text);
            let is_open = super::text_from(&scene.snapshot, edit.span.end, 4).starts_with(is_word);
            self.unknown_variant(&text, before.len(), is_open)
                .or_else(|| {
                    self.unknown_field(scene, edit.span.start, (&text, before.len(), is_open))
                })
        })
    }

    fn is_empty(&self) -> bool {
        self.variants.is_empty() && self.fields.is_empty()
    }

    /// A name in capitals and small letters behind an enumeration's that is none of its variants.
    fn unknown_variant(&self, text: &str, from: usize, is_open: bool) -> Option<String> {
        let sign = match self.language {
            "Rust" | "C++" => "::",
            _ => ".",
        };
        uses(text, sign, from, is_open).find_map(|(owner, name, _)| {
            let variants = self.variants.get(owner)?;
            let is_variant =
                name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase);
            (is_variant && !variants.contains(name)).then(|| format!("{owner}{sign}{name}"))
        })
    }

    /// A field of `self` that the structure around does not have; Rust alone says for sure what `self` is.
    fn unknown_field(
        &self,
        scene: &Scene,
        at: ByteOffset,
        (text, from, is_open): (&str, usize, bool),
    ) -> Option<String> {
        if self.language != "Rust" {
            return None;
        }
        let mut used = uses(text, ".", from, is_open)
            .filter(|(owner, _, is_call)| *owner == "self" && !is_call)
            .peekable();
        used.peek()?;
        let fields = self.fields.get(&type_around(scene, at)?)?;
        let (_, name, _) = used.find(|(_, name, _)| !fields.contains(*name))?;
        Some(format!("self.{name}"))
    }
}

/// Every `owner sign name` of which some comes behind `from`, and whether the name is called. A name that goes on
/// behind the text is left out.
fn uses<'a>(
    text: &'a str,
    sign: &'a str,
    from: usize,
    is_open: bool,
) -> impl Iterator<Item = (&'a str, &'a str, bool)> {
    text.match_indices(sign).filter_map(move |(at, _)| {
        let owner = &text[text[..at].rfind(|ch| !is_word(ch)).map_or(0, |it| it + 1)..at];
        let behind = &text[at + sign.len()..];
        let end = behind.find(|ch| !is_word(ch)).unwrap_or(behind.len());
        let name = &behind[..end];
        let is_whole = end < behind.len() || !is_open;
        let is_new = at + sign.len() + end > from;
        let is_call = behind[end..].starts_with(['(', '!', ':']);
        (is_whole && is_new && !owner.is_empty() && !name.is_empty())
            .then_some((owner, name, is_call))
    })
}

/// The type whose `impl` holds an offset, read from the rows that enclose it.
fn type_around(scene: &Scene, at: ByteOffset) -> Option<String> {
    let snapshot = &scene.snapshot;
    let syntax = scene.syntax.as_ref()?;
    let rows = syntax.context_rows(snapshot, snapshot.point_at(at).row);
    rows.iter().rev().find_map(|row| {
        let line = snapshot.row_text(*row);
        let head = line.trim_start().strip_prefix("impl")?;
        // `impl<T> Trait for Type<T> where …`: what stands behind the last `for`, or behind the parameters.
        let head = head.split(" where ").next().unwrap_or(head);
        let name = match head.rsplit_once(" for ") {
            Some((_, name)) => name,
            None => without_parameters(head),
        };
        let name = name.trim_start_matches(['&', ' ']);
        let end = name.find(|ch| !is_word(ch)).unwrap_or(name.len());
        Some(name[..end].to_owned())
    })
}

fn without_parameters(head: &str) -> &str {
    if !head.starts_with('<') {
        return head;
    }
    let mut depth = 0;
    let end = head.find(|ch| {
        depth += match ch {
            '<' => 1,
            '>' => -1,
            _ => 0,
        };
        depth == 0
    });
    end.map_or(head, |end| &head[end + 1..])
}

#[cfg(test)]
mod tests;
