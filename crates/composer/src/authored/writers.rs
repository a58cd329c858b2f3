//! Who wrote what, for a review of several sessions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use git::merge::TreePath;

use super::Authored;
use crate::review::Authors;

/// The changes of each session, by its name.
#[derive(Clone, Default)]
pub struct Writers(pub HashMap<String, Arc<Mutex<Authored>>>);

impl Authors for Writers {
    fn authors(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String> {
        let (Some(authored), Ok(path)) =
            (self.0.get(session), std::str::from_utf8(path.as_bytes()))
        else {
            return Vec::new();
        };
        let authored = authored.lock().unwrap_or_else(PoisonError::into_inner);
        let hands = authored.hands(path, lines).unwrap_or_else(|sentence| {
            log::warn!("who changed {path} cannot be told: {sentence}");
            Vec::new()
        });
        let mut names: Vec<String> = Vec::new();
        for author in &hands {
            // Calls of the same turn read the same.
            let name = author.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
