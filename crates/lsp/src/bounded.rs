//! Lists and objects of a server that are read up to a bound.
//!
//! A value in memory takes many times the bytes of its JSON text, so a list is kept as raw text and its
//! elements beyond the bound are only counted.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum length of the identifier of an answer, in bytes.
pub(crate) const MAX_RESULT_ID: usize = 4 << 10;

/// Returns the identifier of an answer, to be sent back with a later request; `None` if it is too long to be kept.
pub(crate) fn bounded_id(id: Option<String>) -> Option<String> {
    id.filter(|id| id.len() <= MAX_RESULT_ID)
}

/// The first `MAX` elements of a list; empty for `null`.
#[derive(Debug, Default)]
pub(crate) struct RawItems<'a, const MAX: usize> {
    items: Vec<&'a RawValue>,
    dropped: usize,
}

/// The first `MAX` members of an object; empty for `null`.
#[derive(Debug, Default)]
pub(crate) struct RawMembers<'a, const MAX: usize> {
    members: Vec<(String, &'a RawValue)>,
    dropped: usize,
}

impl<'a, const MAX: usize> RawItems<'a, MAX> {
    /// Returns the elements within the bound.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'a RawValue> {
        self.items.iter().copied()
    }

    /// Returns whether the list has no element.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the number of elements beyond the bound.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }
}

impl<'a, const MAX: usize> RawMembers<'a, MAX> {
    /// Returns the members within the bound.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().map(|(name, value)| (&**name, *value))
    }

    /// Returns the number of members beyond the bound.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped
    }
}

impl<'de: 'a, 'a, const MAX: usize> Deserialize<'de> for RawItems<'a, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemsVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a, const MAX: usize> Deserialize<'de> for RawMembers<'a, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MembersVisitor(PhantomData))
    }
}

struct ItemsVisitor<'a, const MAX: usize>(PhantomData<&'a ()>);

impl<'de: 'a, 'a, const MAX: usize> Visitor<'de> for ItemsVisitor<'a, MAX> {
    type Value = RawItems<'a, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(RawItems::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = RawItems::default();
        while items.items.len() < MAX {
            match list.next_element()? {
                Some(item) => items.items.push(item),
                None => return Ok(items),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            items.dropped += 1;
        }
        Ok(items)
    }
}

struct MembersVisitor<'a, const MAX: usize>(PhantomData<&'a ()>);

impl<'de: 'a, 'a, const MAX: usize> Visitor<'de> for MembersVisitor<'a, MAX> {
    type Value = RawMembers<'a, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(RawMembers::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = RawMembers::default();
        while members.members.len() < MAX {
            match object.next_entry()? {
                Some(member) => members.members.push(member),
                None => return Ok(members),
            }
        }
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            members.dropped += 1;
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::{RawItems, RawMembers};

    #[test]
    fn elements_beyond_the_bound_are_counted() {
        let items: RawItems<'_, 2> = serde_json::from_str("[1,[2],3,{}]").expect("a list");
        let texts: Vec<&str> = items.iter().map(|item| item.get()).collect();
        assert_eq!((texts, items.dropped()), (vec!["1", "[2]"], 2));
        let none: RawItems<'_, 2> = serde_json::from_str("null").expect("null");
        assert!(none.is_empty());
        assert!(serde_json::from_str::<RawItems<'_, 2>>("{}").is_err());
    }

    #[test]
    fn members_beyond_the_bound_are_counted() {
        let json = r#"{"a":1,"b":[2],"c":3}"#;
        let members: RawMembers<'_, 2> = serde_json::from_str(json).expect("an object");
        let texts: Vec<(&str, &str)> = members.iter().map(|(name, it)| (name, it.get())).collect();
        assert_eq!(texts, [("a", "1"), ("b", "[2]")]);
        assert_eq!(members.dropped(), 1);
    }
}
