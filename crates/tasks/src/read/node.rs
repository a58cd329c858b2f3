//! A JSON value with its path in the file, from which the position of a problem follows.

use serde_json::Value;

/// A value of a file.
#[derive(Clone, Debug)]
pub(super) struct JsonNode<'a> {
    value: &'a Value,
    path: Vec<String>,
    /// The key of values that replace others on this system.
    system: &'static str,
}

impl<'a> JsonNode<'a> {
    /// Creates the node of a whole file.
    pub(super) fn root(value: &'a Value, system: &'static str) -> Self {
        Self {
            value,
            path: Vec::new(),
            system,
        }
    }

    /// Returns the keys and indices that lead to it.
    pub(super) fn path(&self) -> &[String] {
        &self.path
    }

    /// Returns the value of a key, or the one for this system; `None` for null.
    pub(super) fn child(&self, key: &str) -> Option<Self> {
        let special = self.value.get(self.system).and_then(|it| it.get(key));
        if let Some(value) = special.filter(|value| !value.is_null()) {
            return Some(self.below(value, &[self.system, key]));
        }
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.below(value, &[key]))
    }

    fn below(&self, value: &'a Value, names: &[&str]) -> Self {
        let mut path = self.path.clone();
        path.extend(names.iter().map(|name| (*name).to_owned()));
        Self {
            value,
            path,
            system: self.system,
        }
    }

    pub(super) fn as_text(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    pub(super) fn as_flag(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// Returns a whole number that is not negative.
    pub(super) fn as_number(&self) -> Option<usize> {
        usize::try_from(self.value.as_u64()?).ok()
    }

    pub(super) fn is_object(&self) -> bool {
        self.value.is_object()
    }

    pub(super) fn as_list(&self) -> Option<Vec<Self>> {
        let elements = self.value.as_array()?.iter().enumerate();
        let nodes = elements.map(|(ix, value)| self.below(value, &[ix.to_string().as_str()]));
        Some(nodes.collect())
    }

    /// Returns the members of an object.
    pub(super) fn members(&self) -> Vec<(&'a str, Self)> {
        let members = self.value.as_object().into_iter().flatten();
        members
            .map(|(key, value)| (key.as_str(), self.below(value, &[key.as_str()])))
            .collect()
    }
}
