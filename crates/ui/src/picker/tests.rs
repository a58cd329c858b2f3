//! Typing finds, keys choose, Enter takes, Escape leaves.

use gpui_kit::{
    AppContext as _, Context, DismissEvent, Entity, IntoElement, ParentElement as _, Render,
    SharedString, Styled as _, Task, TestAppContext, VisualTestContext, Window, div,
};

use super::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};
use crate::{ModalLayer, install_keymaps};

/// Picks among words; finds those that contain the query.
struct Words {
    all: Vec<&'static str>,
    found: Vec<&'static str>,
    previewed: Vec<&'static str>,
    taken: Vec<(String, ConfirmKind)>,
    cancelled: bool,
    sections: bool,
}

impl PickerDelegate for Words {
    type Found = Vec<&'static str>;

    fn name(&self) -> SharedString {
        "Words".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search words".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let (all, query) = (self.all.clone(), query.to_owned());
        cx.background_spawn(async move {
            all.into_iter()
                .filter(|word| word.contains(&query))
                .collect()
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &gpui_kit::App) -> PickerRow {
        PickerRow::new(self.found[ix])
            .detail("a/very/long/path/to/something.rs")
            .keys(Some("Ctrl+K".into()))
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        if self.sections {
            vec![(0, "First".into()), (2, "Rest".into())]
        } else {
            Vec::new()
        }
    }

    fn selected(&mut self, ix: usize, _: &mut Window, _: &mut Context<Picker<Self>>) {
        self.previewed.push(self.found[ix]);
    }

    fn confirm(
        &mut self,
        ix: usize,
        taken: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        self.taken.push((self.found[ix].to_owned(), taken));
        AfterConfirm::Close
    }

    fn confirm_query(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        self.taken
            .push((format!("query {query}"), ConfirmKind::Usual));
        AfterConfirm::Stay
    }

    fn cancelled(&mut self, _: &mut Window, _: &mut Context<Picker<Self>>) {
        self.cancelled = true;
    }

    fn copy_text(&self, ix: usize) -> Option<String> {
        Some(format!("row {}", self.found[ix]))
    }

    fn complete(&self, ix: usize) -> Option<String> {
        Some(self.found[ix].to_owned())
    }
}

/// A window with something focusable and a modal layer.
struct Host {
    layer: Entity<ModalLayer>,
    focus: gpui_kit::FocusHandle,
}

impl Render for Host {
    fn render(&mut self, _: &mut Window, _: &mut Context<Self>) -> impl IntoElement {
        use gpui_kit::InteractiveElement as _;
        div()
            .size_full()
            .track_focus(&self.focus)
            .child(self.layer.clone())
    }
}

struct Setup<'a> {
    picker: Entity<Picker<Words>>,
    host: Entity<Host>,
    cx: &'a mut VisualTestContext,
}

impl Setup<'_> {
    fn words<R>(&mut self, read: impl FnOnce(&Words) -> R) -> R {
        self.cx
            .update(|_, cx| read(self.picker.read(cx).delegate()))
    }

    fn chosen(&mut self) -> Option<&'static str> {
        self.cx.update(|_, cx| {
            let picker = self.picker.read(cx);
            picker.selected().map(|ix| picker.delegate().found[ix])
        })
    }
}

fn open(cx: &mut TestAppContext, sections: bool) -> Setup<'_> {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        // The keys of the list alone: actions of other crates do not exist here.
        let (name, text) =
            settings::builtin::keymap(settings::KeymapBase::VsCode, base::Platform::Linux);
        let (mut keymap, _) = settings::parse_keymap(name, text);
        keymap
            .blocks
            .retain(|block| block.context.as_deref() == Some("Picker > Input"));
        assert_eq!(install_keymaps(&[keymap], cx), []);
    });
    let mut host = None;
    let window = cx
        .update(|cx| {
            gpui_kit::open_window(gpui_kit::WindowOptions::default(), cx, |window, cx| {
                let view = cx.new(|cx| Host {
                    layer: ModalLayer::new(cx),
                    focus: cx.focus_handle(),
                });
                view.read(cx).focus.clone().focus(window, cx);
                host = Some(view.clone());
                view
            })
        })
        .unwrap()
        .0;
    let host = host.unwrap();
    let cx = VisualTestContext::from_window(window, cx).into_mut();
    let picker = cx.update(|window, cx| {
        let words = Words {
            all: vec!["alpha", "beta", "gamma", "delta"],
            found: Vec::new(),
            previewed: Vec::new(),
            taken: Vec::new(),
            cancelled: false,
            sections,
        };
        let picker = cx.new(|cx| Picker::new(words, window, cx));
        let layer = host.read(cx).layer.clone();
        layer.update(cx, |layer, cx| {
            layer.show("Words", picker.clone(), window, cx)
        });
        picker
    });
    cx.run_until_parked();
    Setup { picker, host, cx }
}

#[gpui_kit::test]
fn typing_finds_and_enter_takes(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    assert_eq!(
        setup.words(|words| words.found.len()),
        4,
        "an empty query finds everything"
    );
    setup.cx.simulate_input("ta");
    setup.cx.run_until_parked();
    assert_eq!(setup.words(|words| words.found.clone()), ["beta", "delta"]);
    setup.cx.simulate_keystrokes("down enter");
    setup.cx.run_until_parked();
    assert_eq!(
        setup.words(|words| words.taken.clone()),
        [("delta".to_owned(), ConfirmKind::Usual)]
    );
    let (open, focused) = setup.cx.update(|window, cx| {
        let host = setup.host.read(cx);
        (host.layer.read(cx).is_open(), host.focus.is_focused(window))
    });
    assert!(!open, "taking a row closes");
    assert!(focused, "the keyboard goes back to where it was");
}

#[gpui_kit::test]
fn keys_choose(cx: &mut TestAppContext) {
    let mut setup = open(cx, true);
    for (keys, chosen) in [
        ("down", "beta"),
        ("down", "gamma"),
        ("up", "beta"),
        ("up up", "delta"),
        ("down", "alpha"),
        ("pagedown", "delta"),
        ("pageup", "alpha"),
        ("ctrl-end", "delta"),
        ("ctrl-home", "alpha"),
    ] {
        setup.cx.simulate_keystrokes(keys);
        assert_eq!(setup.chosen(), Some(chosen), "{keys}");
    }
    assert_eq!(
        setup.words(|words| words.previewed.first().copied()),
        Some("alpha")
    );
    setup.cx.simulate_keystrokes("ctrl-enter");
    setup.cx.run_until_parked();
    assert_eq!(
        setup.words(|words| words.taken.clone()),
        [("alpha".to_owned(), ConfirmKind::Other)]
    );
}

#[gpui_kit::test]
fn escape_leaves(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_keystrokes("escape");
    setup.cx.run_until_parked();
    assert!(setup.words(|words| words.cancelled && words.taken.is_empty()));
    let open = setup
        .cx
        .update(|_, cx| setup.host.read(cx).layer.read(cx).is_open());
    assert!(!open);
}

#[gpui_kit::test]
fn nothing_found_is_said_and_enter_hands_the_query_over(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_input("xyz");
    setup.cx.run_until_parked();
    assert_eq!(setup.chosen(), None);
    setup.cx.simulate_keystrokes("enter");
    setup.cx.run_until_parked();
    assert_eq!(setup.words(|words| words.taken[0].0.clone()), "query xyz");
}

#[gpui_kit::test]
fn enter_confirms_results_of_the_typed_query(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    let picker = setup.picker.clone();
    setup.cx.update(|window, cx| {
        picker.update(cx, |picker, cx| {
            picker.set_query("ga", window, cx);
            picker.confirm(ConfirmKind::Usual, window, cx);
        });
    });
    assert!(setup.words(|words| words.taken.is_empty()));
    setup.cx.run_until_parked();
    assert_eq!(
        setup.words(|words| words.taken.clone()),
        [("gamma".to_owned(), ConfirmKind::Usual)]
    );
}

#[gpui_kit::test]
fn tab_completes(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_input("ga");
    setup.cx.run_until_parked();
    setup.cx.simulate_keystrokes("tab");
    setup.cx.run_until_parked();
    let query = setup
        .cx
        .update(|_, cx| setup.picker.read(cx).query().to_owned());
    assert_eq!(query, "gamma");
    assert_eq!(setup.words(|words| words.found.clone()), ["gamma"]);
}

#[gpui_kit::test]
fn a_refresh_keeps_the_chosen_row(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_keystrokes("down down");
    let picker = setup.picker.clone();
    setup.cx.update(|window, cx| {
        picker.update(cx, |picker, cx| {
            picker.delegate_mut().all.push("epsilon");
            picker.refresh(window, cx);
        });
    });
    setup.cx.run_until_parked();
    assert_eq!(setup.words(|words| words.found.len()), 5);
    assert_eq!(setup.chosen(), Some("gamma"));
}

#[gpui_kit::test]
fn a_reload_selects_the_row_of_the_delegate(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_keystrokes("down down");
    let picker = setup.picker.clone();
    setup.cx.update(|window, cx| {
        picker.update(cx, |picker, cx| picker.reload(window, cx));
    });
    setup.cx.run_until_parked();
    assert_eq!(setup.chosen(), Some("alpha"));
}

#[gpui_kit::test]
fn the_selected_row_is_copied_unless_the_query_is_selected(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    setup.cx.simulate_keystrokes("down ctrl-c");
    let copied = |setup: &mut Setup<'_>| {
        let item = setup.cx.read_from_clipboard();
        item.and_then(|item| item.text()).unwrap_or_default()
    };
    assert_eq!(copied(&mut setup), "row beta");
    setup.cx.simulate_input("ga");
    setup.cx.run_until_parked();
    setup.cx.simulate_keystrokes("ctrl-a ctrl-c");
    assert_eq!(copied(&mut setup), "ga");
}

#[gpui_kit::test]
fn dismissing_is_heard_once(cx: &mut TestAppContext) {
    let setup = open(cx, false);
    let count = std::rc::Rc::new(std::cell::Cell::new(0));
    let heard = count.clone();
    let subscription = setup.cx.update(|_, cx| {
        cx.subscribe(&setup.picker, move |_, _: &DismissEvent, _| {
            heard.set(heard.get() + 1)
        })
    });
    setup.cx.simulate_keystrokes("escape");
    setup.cx.run_until_parked();
    assert_eq!(count.get(), 1);
    drop(subscription);
}

#[gpui_kit::test]
fn a_click_beside_it_leaves(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    let corner = gpui_kit::point(gpui_kit::px(3.0), gpui_kit::px(3.0));
    setup
        .cx
        .simulate_click(corner, gpui_kit::Modifiers::default());
    setup.cx.run_until_parked();
    assert!(
        setup.words(|words| words.cancelled),
        "a preview is taken back"
    );
    let (open, focused) = setup.cx.update(|window, cx| {
        let host = setup.host.read(cx);
        (host.layer.read(cx).is_open(), host.focus.is_focused(window))
    });
    assert!(!open && focused);
}

#[gpui_kit::test]
fn another_picker_in_its_place_is_a_cancel_too(cx: &mut TestAppContext) {
    let mut setup = open(cx, false);
    let host = setup.host.clone();
    let second = setup.cx.update(|window, cx| {
        let words = Words {
            all: vec!["one"],
            found: Vec::new(),
            previewed: Vec::new(),
            taken: Vec::new(),
            cancelled: false,
            sections: false,
        };
        let second = cx.new(|cx| Picker::new(words, window, cx));
        let layer = host.read(cx).layer.clone();
        layer.update(cx, |layer, cx| {
            layer.show("More words", second.clone(), window, cx)
        });
        second
    });
    setup.cx.run_until_parked();
    assert!(setup.words(|words| words.cancelled));
    setup.cx.simulate_keystrokes("enter");
    setup.cx.run_until_parked();
    setup.cx.update(|window, cx| {
        let delegate = second.read(cx).delegate();
        assert_eq!(delegate.taken.len(), 1);
        assert!(!delegate.cancelled, "what was taken is not taken back");
        assert!(host.read(cx).focus.is_focused(window));
    });
}
