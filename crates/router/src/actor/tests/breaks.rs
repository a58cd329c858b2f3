//! Tests of answers that break off.

use super::*;

#[tokio::test(start_paused = true)]
async fn answer_is_passed_through_unchanged() {
    let client = ScriptedClient::new([ResponseScript::text("hello")]);
    let router = router(&client);
    let mut stream = router.submit(ask("hi"));
    let Some(RouterEvent::Decided(decision)) = stream.next().await else {
        panic!("first who answers");
    };
    assert_eq!(
        decision.chosen.as_ref().map(|route| route.model.clone()),
        Some(model("test/one"))
    );
    let answer = assemble(&events(stream).await);
    assert_eq!(answer.text, "hello");
    assert_eq!(answer.end, Some(Ok(StopReason::EndTurn)));
    router.idle().await;
    assert_eq!(router.decisions().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn failure_before_the_first_event_retries_silently() {
    for class in [
        FailureClass::Overloaded,
        FailureClass::Offline,
        FailureClass::ServerError,
        FailureClass::Torn,
        FailureClass::Malformed,
    ] {
        let client = ScriptedClient::new([
            ResponseScript::fails(failure(class)),
            ResponseScript::fails(failure(class)),
            ResponseScript::text("there"),
        ]);
        let all = events(router(&client).submit(ask("hi"))).await;
        let answer = assemble(&all);
        assert_eq!(
            (answer.text.as_str(), answer.restarts),
            ("there", 0),
            "{class:?}"
        );
        assert_eq!(client.requests().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn failure_in_the_middle_restarts_the_answer() {
    let client = ScriptedClient::new([
        ResponseScript::events([
            start(),
            text("hel"),
            StreamEvent::Failed(failure(FailureClass::Torn)),
        ]),
        ResponseScript::events([
            start(),
            StreamEvent::Failed(failure(FailureClass::Overloaded)),
        ]),
        ResponseScript::text("hello"),
    ]);
    let all = events(router(&client).submit(ask("hi"))).await;
    let answer = assemble(&all);
    assert_eq!(answer.text, "hello");
    assert_eq!(
        answer.restarts, 1,
        "the attempt that brought nothing is not seen: {all:?}"
    );
    let at = all
        .iter()
        .position(|event| *event == StreamEvent::Restart)
        .unwrap();
    assert_eq!(all[..at], [start(), text("hel")]);
    assert!(
        matches!(all[at + 1], StreamEvent::Start { .. }),
        "then the answer begins"
    );
}

#[tokio::test(start_paused = true)]
async fn incomplete_calls_restart_but_complete_ones_never() {
    let broken = |events: &[StreamEvent]| {
        let end = StreamEvent::Failed(failure(FailureClass::Torn));
        ResponseScript::events(events.iter().cloned().chain([end]))
    };
    let [begin, arguments, end] = call(0);
    let half = broken(&[start(), begin.clone(), arguments.clone()]);
    let client = ScriptedClient::new([half, ResponseScript::calls(&[("a", "write", "{}")])]);
    let truncated = assemble(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!(truncated.calls, [("write".to_owned(), "{}".to_owned())]);
    assert_eq!(truncated.restarts, 1);

    let whole = broken(&[start(), begin, arguments, end, text("and")]);
    let client = ScriptedClient::new([whole, ResponseScript::text("never asked for")]);
    let complete = assemble(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!(complete.calls.len(), 1, "it stands");
    assert_eq!(complete.end, Some(Err(FailureClass::Torn)));
    assert_eq!(
        (client.requests().len(), client.remaining_scripts()),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn stalls_time_out_before_and_between_events() {
    let client = ScriptedClient::new([
        ResponseScript::default().then_silence(),
        ResponseScript::events([start(), text("hel")]).then_silence(),
        ResponseScript::text("hello"),
    ]);
    let begin = Instant::now();
    let answer = assemble(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!((answer.text.as_str(), answer.restarts), ("hello", 1));
    let took = begin.elapsed().as_secs();
    assert!(
        (360..364).contains(&took),
        "60 s, then 300 s, and two short waits: {took} s"
    );
    assert_eq!(client.cancelled(), 2, "the silent sockets were closed");
}

#[tokio::test(start_paused = true)]
async fn persistent_failure_keeps_its_class() {
    let never_again = [
        FailureClass::Quota,
        FailureClass::Authentication,
        FailureClass::NoSuchModel,
        FailureClass::InvalidRequest,
        FailureClass::ContextOverflow,
    ];
    for class in never_again {
        let client = ScriptedClient::new([
            ResponseScript::fails(failure(class)),
            ResponseScript::text("no"),
        ]);
        let answer = assemble(&events(router(&client).submit(ask("hi"))).await);
        assert_eq!(answer.end, Some(Err(class)));
        assert_eq!(client.requests().len(), 1, "{class:?} is not sent again");
    }
}

#[tokio::test(start_paused = true)]
async fn waits_are_reported_while_they_last() {
    let client = ScriptedClient::new([
        ResponseScript::fails(limited(7)),
        ResponseScript::text("there"),
    ]);
    let routed: Vec<RouterEvent> = router(&client).submit(ask("hi")).collect().await;
    let waits: Vec<_> = routed
        .iter()
        .filter_map(|event| match event {
            RouterEvent::Waiting { failure, pause } => Some((failure.class, pause.as_secs())),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [(FailureClass::RateLimited, 7)]);
}

#[tokio::test(start_paused = true)]
async fn unknown_model_is_refused_with_a_sentence() {
    let client = ScriptedClient::default();
    let mut request = request("hi");
    request.model = model("test/other");
    let ask = RouterRequest::chat(request, caller(RequestClass::Turn, 1));
    let all = events(router(&client).submit(ask)).await;
    let Some(StreamEvent::Failed(failure)) = all.last() else {
        panic!("{all:?}");
    };
    assert_eq!(failure.class, FailureClass::NoSuchModel);
    assert!(failure.message.contains("test/other"), "{failure}");
}
