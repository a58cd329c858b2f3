//! Ordering of conflicting accesses.

use futures::FutureExt;

use super::Locks;
use crate::tool::{LockScope, ToolAccess};

fn access(words: &str) -> ToolAccess {
    let mut access = ToolAccess::default();
    for word in words.split_whitespace() {
        let (way, scope) = word.split_at(1);
        let scope = match scope.strip_suffix("/**") {
            Some(tree) => LockScope::Tree(tree.trim_start_matches('.').to_owned()),
            None => LockScope::Path(scope.to_owned()),
        };
        match way {
            "r" => access.reads.push(scope),
            _ => access.writes.push(scope),
        }
    }
    access
}

/// Queues all accesses and returns which of them may run at once.
fn check(queued: &[&str], go: &[bool]) {
    let locks = Locks::default();
    let tickets: Vec<_> = queued
        .iter()
        .map(|words| locks.queue(&access(words)))
        .collect();
    let free: Vec<bool> = tickets
        .iter()
        .map(|ticket| ticket.turn().now_or_never().is_some())
        .collect();
    assert_eq!(free, go, "{queued:?}");
}

#[test]
fn readers_share_and_writers_of_one_path_queue() {
    check(&["ra", "ra", "rb"], &[true, true, true]);
    check(&["wa", "wb", "wa"], &[true, true, false]);
    check(&["ra", "wa", "ra"], &[true, false, false]);
    check(&["wsrc/a", "rsrc/**", "wdoc/b"], &[true, false, true]);
    check(&["w./**", "ra", ""], &[true, false, true]);
}

#[tokio::test]
async fn dropping_a_ticket_releases_the_next() {
    let locks = Locks::default();
    let first = locks.queue(&access("wa"));
    let second = locks.queue(&access("wa"));
    assert!(second.turn().now_or_never().is_none());
    let waiting = tokio::spawn(async move {
        second.turn().await;
        second
    });
    tokio::task::yield_now().await;
    drop(first);
    let second = waiting.await.expect("it goes");
    drop(second);
    assert!(locks.lock().tickets.is_empty());
}
