//! Mappings of the user: key sequences that stand for others.
//!
//! Start at `Mappings::resolve`.

use crate::key::Key;

/// A mode, as far as mappings know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapMode {
    Normal,
    Visual,
    Pending,
    Insert,
    Prompt,
}

/// A mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) modes: Vec<MapMode>,
    pub(crate) from: Vec<Key>,
    pub(crate) to: Vec<Key>,
    /// Whether the keys of `to` are mapped again.
    pub(crate) is_recursive: bool,
}

/// The mappings of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mappings {
    mappings: Vec<Mapping>,
}

/// The meaning of the keys typed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// No mapping starts with them.
    None,
    /// A longer mapping may still follow; the shorter one that fits, if any.
    Pending(Option<Mapping>),
    Mapped(Mapping),
}

impl Mappings {
    /// Adds a mapping, in place of one of the same keys in the same modes.
    pub(crate) fn add(&mut self, mapping: Mapping) {
        self.remove(&mapping.modes, &mapping.from);
        self.mappings.push(mapping);
    }

    /// Removes the mappings of keys in modes. Returns whether there was one.
    pub(crate) fn remove(&mut self, modes: &[MapMode], from: &[Key]) -> bool {
        let mut is_found = false;
        for mapping in &mut self.mappings {
            if mapping.from == from {
                let before = mapping.modes.len();
                mapping.modes.retain(|mode| !modes.contains(mode));
                is_found |= mapping.modes.len() < before;
            }
        }
        self.mappings.retain(|mapping| !mapping.modes.is_empty());
        is_found
    }

    /// Removes all mappings of modes.
    pub(crate) fn clear(&mut self, modes: &[MapMode]) {
        for mapping in &mut self.mappings {
            mapping.modes.retain(|mode| !modes.contains(mode));
        }
        self.mappings.retain(|mapping| !mapping.modes.is_empty());
    }

    /// Returns the meaning of keys in a mode.
    pub(crate) fn resolve(&self, mode: MapMode, keys: &[Key]) -> Resolution {
        let known = self.mappings.iter().filter(|it| it.modes.contains(&mode));
        let mut exact = None;
        let mut has_longer = false;
        for mapping in known {
            if mapping.from == keys {
                exact = Some(mapping.clone());
            } else if mapping.from.starts_with(keys) {
                has_longer = true;
            }
        }
        match exact {
            exact if has_longer => Resolution::Pending(exact),
            Some(mapping) => Resolution::Mapped(mapping),
            None => Resolution::None,
        }
    }

    /// The mappings of a mode, for `:map` without arguments.
    pub(crate) fn of(&self, mode: MapMode) -> impl Iterator<Item = &Mapping> {
        self.mappings
            .iter()
            .filter(move |it| it.modes.contains(&mode))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mappings.is_empty()
    }
}
