//! Where a path of a call leads.
//!
//! Below the root, links may lead to other places below the root and nowhere else. What lies outside is named by
//! its real path, so that rules judge the file that is meant and no link stands in for it.

use base::AbsPath;
use host::FileKind;
use project::{Hidden, Ignored, WalkOptions};

use crate::ground::follow;
use crate::outcome::Detail;
use crate::tool::{Answer, Scope, ToolContext};

use super::read::sentence;
use super::{invalid, unexpected};

/// A place that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Without links; the part that is missing as it was written.
    pub(super) path: AbsPath,
    /// Relative to the root with `/`, empty for the root itself; absolute outside.
    pub(super) shown: String,
    pub(super) is_inside: bool,
}

impl Place {
    /// The file or folder itself as a scope.
    pub(super) fn scope(&self) -> Scope {
        Scope::Path(self.shown.clone())
    }

    /// With all that lies in it.
    pub(super) fn tree(&self) -> Scope {
        Scope::Tree(self.shown.clone())
    }

    /// For sentences: the root is `.`.
    pub(super) fn name(&self) -> &str {
        match self.shown.is_empty() {
            true => ".",
            false => &self.shown,
        }
    }
}

/// Where a path leads, from the root where it is relative.
pub(super) fn place(context: &ToolContext, given: &str) -> Result<Place, Answer> {
    let trimmed = given.trim();
    if trimmed.contains('\0') || trimmed.contains('\n') {
        return Err(invalid(format!(
            "{given:?} is no path; name one file or folder"
        )));
    }
    let written = match home(trimmed) {
        Some(path) => path,
        None => context.root.join(trimmed),
    };
    let real = follow(context.sources.files.as_ref(), &written);
    let real = real.map_err(|error| {
        unexpected(format!(
            "{} Look at what is there with list.",
            sentence(&error)
        ))
    })?;
    if let Some(inner) = real.relative_to(&context.root) {
        let shown = inner.to_string_lossy().into_owned();
        return Ok(Place {
            shown,
            path: real,
            is_inside: true,
        });
    }
    if written.is_within(&context.root) {
        let text = format!(
            "{trimmed} is a link, or lies behind one, that leads out of the project to {real}; links are not followed out of it, so name a file of the project"
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    Ok(Place {
        shown: real.to_string(),
        path: real,
        is_inside: false,
    })
}

/// As `place`, for what is to be changed: below the root, and not the root.
pub(super) fn place_below(context: &ToolContext, given: &str) -> Result<Place, Answer> {
    let place = place(context, given)?;
    if !place.is_inside {
        let text = format!(
            "{given} lies outside of the project folder {}; only files below it can be changed, so name a path below it",
            context.root
        );
        return Err(unexpected(text).with_detail(Detail::Denied));
    }
    if place.shown.is_empty() {
        return Err(invalid(format!(
            "{given:?} is the project folder itself; name a file below it"
        )));
    }
    Ok(place)
}

fn home(path: &str) -> Option<AbsPath> {
    let rest = path.strip_prefix('~')?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    let home = AbsPath::new(std::env::var_os("HOME")?)?;
    Some(home.join(rest.trim_start_matches('/')))
}

/// The answer for a path where nothing is, with names that may have been meant.
pub(super) fn missing(context: &ToolContext, place: &Place) -> Answer {
    let mut text = format!("There is no file {}.", place.name());
    let near = nearest(context, place);
    match near.is_empty() {
        true => text.push_str(" Look for it with glob or list."),
        false => text.push_str(&format!(" Did you mean {}?", near.join(" or "))),
    }
    unexpected(text)
}

/// Up to three paths with the same name elsewhere, or with a similar name in the same folder.
fn nearest(context: &ToolContext, place: &Place) -> Vec<String> {
    let name = place.path.name();
    let mut near = Vec::new();
    if let Some(folder) = place.path.parent()
        && let Ok(listing) = context.sources.files.list(&folder)
    {
        let mut similar: Vec<(usize, String)> = listing
            .entries
            .iter()
            .filter(|entry| matches!(entry.kind, FileKind::File | FileKind::Folder))
            .map(|entry| (distance(&name, &entry.path.name()), entry))
            .filter(|(far, _)| *far <= 2.max(name.chars().count() / 3))
            .map(|(far, entry)| (far, shown(context, &entry.path)))
            .collect();
        similar.sort();
        near.extend(similar.into_iter().map(|(_, path)| path));
    }
    if place.is_inside && near.len() < 3 {
        near.extend(namesakes(context, &name));
    }
    near.dedup();
    near.truncate(3);
    near
}

/// Files of the project with this very name.
fn namesakes(context: &ToolContext, name: &str) -> Vec<String> {
    let options = WalkOptions {
        include: vec![escape(name)],
        exclude: Vec::new(),
        hidden: Hidden::Skip,
        ignored: Ignored::Skip,
    };
    let ground = project::Ground::Disk;
    let found = project::file_list(&ground, &context.root, &options, &false.into());
    let paths = found.map(|(paths, _)| paths).unwrap_or_default();
    let paths = paths.iter().take(3);
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// A path for the model: relative to the root where it lies below.
pub(super) fn shown(context: &ToolContext, path: &AbsPath) -> String {
    match path.relative_to(&context.root) {
        Some(inner) => inner.to_string_lossy().into_owned(),
        None => path.to_string(),
    }
}

/// A name as a glob that means just that.
pub(super) fn escape(name: &str) -> String {
    let mut glob = String::new();
    for sign in name.chars() {
        if matches!(sign, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!') {
            glob.push('\\');
        }
        glob.push(sign);
    }
    glob
}

/// How many letters must change to make one name of the other, capitals aside.
fn distance(one: &str, two: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().take(128).collect();
    let two: Vec<char> = two.to_lowercase().chars().take(128).collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (ix, sign) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = ix + 1;
        for (jx, other) in two.iter().enumerate() {
            let change = diagonal + usize::from(sign != other);
            diagonal = row[jx + 1];
            row[jx + 1] = change.min(row[jx] + 1).min(diagonal + 1);
        }
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, two, far) in [
            ("a", "a", 0),
            ("Main.rs", "main.rs", 0),
            ("man", "main", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, two), far, "{one} {two}");
            assert_eq!(distance(two, one), far, "{two} {one}");
        }
    }
}
