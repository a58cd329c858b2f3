//! Attributes of paths (`.gitattributes`) that decide how content is converted.

use std::path::Path;

use git2::{AttrCheckFlags, AttrValue};

use crate::repository::Repository;

/// The value of an attribute of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// No rule names the attribute, or it cannot be read.
    Unspecified,
    /// The attribute is unset, as in `-text`.
    False,
    /// The attribute is set, as in `text`.
    True,
    /// The attribute has a value, as in `text=auto`.
    Named(String),
}

impl Repository {
    /// Returns an attribute of a path relative to the working tree, by the files of the working
    /// tree and, where they are missing, by those in the index.
    pub(crate) fn attribute(&self, relative: &Path, name: &str) -> Attribute {
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        let value = self.inner.get_attr_bytes(relative, name, flags);
        // libgit2 distinguishes the values by their address, so they must not be copied before.
        match AttrValue::from_bytes(value.ok().flatten()) {
            AttrValue::True => Attribute::True,
            AttrValue::False => Attribute::False,
            AttrValue::String(name) => Attribute::Named(name.to_owned()),
            AttrValue::Bytes(name) => Attribute::Named(String::from_utf8_lossy(name).into_owned()),
            AttrValue::Unspecified => Attribute::Unspecified,
        }
    }

    /// Returns the name of the filter in the path's `filter` attribute if the config has a program
    /// for it; a filter without a program changes nothing. `relative` is relative to the working
    /// tree. An unreadable config counts as one without programs.
    pub(crate) fn filter_of(&self, relative: &Path) -> Option<String> {
        let Attribute::Named(filter) = self.attribute(relative, "filter") else {
            return None;
        };
        let config = self.inner.config().ok()?;
        let has_program = |what: &str| {
            let value = config.get_string(&format!("filter.{filter}.{what}"));
            value.is_ok_and(|value| !value.is_empty())
        };
        let is_external = ["smudge", "clean", "process"].into_iter().any(has_program);
        is_external.then_some(filter)
    }

    /// Returns whether only git can stage the file as it would: a filter program would have to run, or
    /// the encoding of the working tree is another one.
    pub(crate) fn needs_program(&self, relative: &Path) -> bool {
        let encoding = self.attribute(relative, "working-tree-encoding");
        matches!(encoding, Attribute::Named(_)) || self.filter_of(relative).is_some()
    }
}
