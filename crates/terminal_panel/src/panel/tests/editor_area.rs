//! Terminals among the texts of a window, which the panel owns.

use super::*;

fn shown(story: &mut PanelStory<'_>) -> Entity<crate::TerminalView> {
    let panel = story.panel.clone();
    let view = panel.read_with(story.cx, |panel, _| panel.active_view().cloned());
    view.expect("a terminal")
}

#[gpui_kit::test]
fn terminals_among_the_texts_stay_those_of_the_panel(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    story.focus();
    story.program(0).print("hello");
    story.settle();
    let view = shown(&mut story);
    let moved = story
        .panel
        .update(story.cx, |panel, cx| panel.move_into_editor(&view, cx));
    story.settle();
    assert!(moved && story.is_empty());
    assert_eq!(*story.events.borrow(), [TerminalPanelEvent::CloseRequested]);
    let mentions = story
        .panel
        .read_with(story.cx, |panel, cx| panel.mentions(cx));
    assert_eq!(mentions.len(), 1);
    story.program(0).set_processes(2);
    let count = story
        .panel
        .read_with(story.cx, |panel, cx| panel.running_count(cx));
    assert_eq!(count, 1);
    let moved = story
        .panel
        .update(story.cx, |panel, cx| panel.move_into_panel(&view, cx));
    story.settle();
    assert!(moved);
    assert_eq!(shown(&mut story), view);
    assert_eq!(story.service.launches().len(), 1);
}

#[gpui_kit::test]
fn a_saved_terminal_returns_to_the_tab_that_waits_for_it(cx: &mut TestAppContext) {
    let service = FakeTerminals::default();
    let mut app = cx.new_app();
    let mut story = open(service.clone(), &mut app);
    story.focus();
    story.program(0).print("first words\r\n");
    story.act(NewTerminal);
    let view = shown(&mut story);
    story.panel.update(story.cx, |panel, cx| {
        panel.move_into_editor(&view, cx);
        panel.rename_in_editor(&view, " server ", cx);
    });
    story.cx.executor().advance_clock(Duration::from_secs(3));
    story.settle();
    let saved = service.saved();
    let [None, Some(id)] = saved.iter().map(|it| it.editor).collect::<Vec<_>>()[..] else {
        panic!("{saved:?}");
    };

    init(Platform::Linux, Settings::builtin(), cx);
    let later = FakeTerminals::default();
    later.set_saved(saved);
    let (shared, folder) = (Arc::new(later.clone()), AbsPath::new("/project"));
    let (panel, cx) = cx.add_window_view(|window, cx| {
        let mut panel = TerminalPanel::new(shared, folder, window, cx);
        assert!(panel.restore_in_editor(id, window, cx).is_some());
        assert!(panel.restore_in_editor(id, window, cx).is_none());
        panel
    });
    cx.run_until_parked();
    panel.read_with(cx, |panel, cx| {
        assert_eq!(panel.views().count(), 2);
        let view = panel.last_in_editor().expect("a terminal").read(cx);
        assert_eq!(crate::tab::title(view), "server");
        assert!(view.text_to_save().read().is_some(), "it has its text");
    });
}

#[gpui_kit::test]
fn a_task_takes_over_its_tab_among_the_texts(cx: &mut TestAppContext) {
    let mut story = open(FakeTerminals::default(), cx);
    let launch = |story: &mut PanelStory<'_>| {
        let launched = story.panel.update_in(story.cx, |panel, window, cx| {
            panel.launch(task_request("all"), window, cx)
        });
        story.settle();
        launched
    };
    let first = launch(&mut story).view;
    story
        .panel
        .update(story.cx, |panel, cx| panel.move_into_editor(&first, cx));
    story.program(0).end(ProcessExit::Exited(0));
    story.settle();
    let second = launch(&mut story);
    assert_eq!(second.replaced.as_ref(), Some(&first));
    story.panel.read_with(story.cx, |panel, _| {
        assert!(panel.is_in_editor(&second.view));
        assert!(!panel.is_in_editor(&first));
        assert!(panel.is_empty());
    });
}
