//! The authors of lines, for a review of several sessions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use git::merge::TreePath;

use super::ChangeHistory;
use crate::review::LineAuthors;

/// The change log of each session, by session id.
#[derive(Clone, Default)]
pub struct SessionAuthors(pub HashMap<String, Arc<Mutex<ChangeHistory>>>);

impl LineAuthors for SessionAuthors {
    fn authors(&self, session: &str, path: &TreePath, lines: Option<Range<u32>>) -> Vec<String> {
        let (Some(history), Ok(path)) = (self.0.get(session), std::str::from_utf8(path.as_bytes()))
        else {
            return Vec::new();
        };
        let history = history.lock().unwrap_or_else(PoisonError::into_inner);
        let authors = history
            .contributors(path, lines)
            .unwrap_or_else(|sentence| {
                log::warn!("cannot determine the authors of {path}: {sentence}");
                Vec::new()
            });
        let mut names: Vec<String> = Vec::new();
        for author in &authors {
            // Several calls of the same turn have the same name.
            let name = author.to_string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
