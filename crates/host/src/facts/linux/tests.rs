//! Tests of facts about Linux.

#[test]
fn graphics_fonts_and_watches_are_reported() {
    let facts = super::facts(&[]);
    for name in ["fonts", "Vulkan drivers", "file watches", "Landlock"] {
        let is_named = facts.iter().any(|fact| fact.name == name);
        assert!(is_named, "no fact about {name}");
    }
}

#[test]
fn probing_a_silent_display_times_out() {
    // The socket of this machine's display 100; nothing ever answers there.
    let Ok(listener) = std::net::TcpListener::bind("127.0.0.1:6100") else {
        return test_support::skip("another program listens on port 6100");
    };
    let started = std::time::Instant::now();
    let answer = super::display::connect_x11("localhost:100");
    assert!(started.elapsed() < super::super::PROBE_TIMEOUT * 4);
    assert!(answer.is_err_and(|error| error.to_string().contains("no response")));
    drop(listener);
}
