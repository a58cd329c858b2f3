//! Tabs by example and at random.

use super::{CloseScope, ItemId, TabList, TabOpenMode, TabState};

/// `1 2! (3) [4]`: pinned with `!`, preview in parentheses, the active one in brackets.
fn show(list: &TabList) -> String {
    let parts: Vec<_> = list
        .tabs()
        .iter()
        .map(|tab| {
            let mut text = tab.item.0.to_string();
            if tab.pinned {
                text.push('!');
            }
            if tab.preview {
                text = format!("({text})");
            }
            if list.active() == Some(tab.item) {
                text = format!("[{text}]");
            }
            text
        })
        .collect();
    parts.join(" ")
}

fn assert_invariants(list: &TabList) {
    let border = list.tabs().iter().take_while(|t| t.pinned).count();
    assert!(list.tabs()[border..].iter().all(|t| !t.pinned), "{list:?}");
    let previews: Vec<_> = list.tabs().iter().filter(|t| t.preview).collect();
    assert!(previews.len() <= 1 && previews.iter().all(|t| !t.pinned));
    let mut recent: Vec<_> = list.recent().collect();
    let mut items: Vec<_> = list.tabs().iter().map(|t| t.item).collect();
    recent.sort();
    items.sort();
    assert_eq!(recent, items);
}

fn check(list: &TabList, expect: &str) {
    assert_invariants(list);
    assert_eq!(show(list), expect);
}

#[test]
fn previews_give_way_and_lasting_tabs_stay() {
    let mut list = TabList::default();
    list.open(ItemId(1), TabOpenMode::Lasting);
    assert_eq!(list.open(ItemId(2), TabOpenMode::Preview), None);
    check(&list, "1 [(2)]");
    assert_eq!(list.open(ItemId(3), TabOpenMode::Preview), Some(ItemId(2)));
    check(&list, "1 [(3)]");
    list.activate(ItemId(1));
    list.open(ItemId(4), TabOpenMode::Lasting);
    check(&list, "1 [4] (3)");
    list.open(ItemId(3), TabOpenMode::Lasting);
    check(&list, "1 4 [3]");
}

#[test]
fn pinned_tabs_stand_in_front() {
    let mut list = TabList::default();
    for id in 1..=4 {
        list.open(ItemId(id), TabOpenMode::Lasting);
    }
    list.set_pinned(ItemId(3), true);
    list.set_pinned(ItemId(4), true);
    check(&list, "3! [4!] 1 2");
    list.open(ItemId(5), TabOpenMode::Lasting);
    check(&list, "3! 4! [5] 1 2");
    list.reorder(ItemId(2), 0);
    check(&list, "3! 4! 2 [5] 1");
    list.reorder(ItemId(3), 5);
    check(&list, "4! 3! 2 [5] 1");
    list.set_pinned(ItemId(4), false);
    check(&list, "3! 4 2 [5] 1");
}

#[test]
fn closing_shows_the_tab_before() {
    let mut list = TabList::default();
    for id in 1..=4 {
        list.open(ItemId(id), TabOpenMode::Lasting);
    }
    list.set_pinned(ItemId(1), true);
    list.activate(ItemId(2));
    assert_eq!(
        list.closing(CloseScope::Others(ItemId(2))),
        [3, 4].map(ItemId)
    );
    assert_eq!(list.closing(CloseScope::RightOf(ItemId(3))), [ItemId(4)]);
    assert_eq!(list.closing(CloseScope::All), [2, 3, 4].map(ItemId));
    assert_eq!(list.closing(CloseScope::One(ItemId(1))), [ItemId(1)]);
    assert_eq!(list.closing(CloseScope::One(ItemId(9))), []);
    list.remove(ItemId(2));
    check(&list, "1! 3 [4]");
    assert_eq!(list.neighbour(1), Some(ItemId(1)));
    assert_eq!(list.neighbour(-1), Some(ItemId(3)));
}

#[test]
fn random_use_keeps_the_invariants() {
    let seed = 77_u64;
    println!("seed {seed}");
    let mut state = seed;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut list = TabList::default();
    for _ in 0..5000 {
        let item = ItemId(next(12) as u64);
        match next(7) {
            0 => {
                list.open(item, TabOpenMode::Preview);
            }
            1 => {
                list.open(item, TabOpenMode::Lasting);
            }
            2 => {
                list.remove(item);
            }
            3 => list.set_pinned(item, next(2) == 0),
            4 => list.reorder(item, next(14)),
            5 => {
                list.activate(item);
            }
            _ if !list.contains(item) => list.insert(
                TabState {
                    item,
                    pinned: next(2) == 0,
                    preview: next(2) == 0,
                },
                next(14),
            ),
            _ => {
                list.keep_open(item);
            }
        }
        assert_invariants(&list);
    }
}
