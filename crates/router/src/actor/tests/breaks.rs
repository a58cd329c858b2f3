//! Answers that break off, and what is made of them.

use super::*;

#[tokio::test(start_paused = true)]
async fn an_answer_comes_through_as_it_is() {
    let client = ScriptedClient::new([Script::text("hello")]);
    let router = router(&client);
    let mut told = router.submit(ask("hi"));
    let Some(Told::Decided(decision)) = told.next().await else {
        panic!("first who answers");
    };
    assert_eq!(
        decision.chosen.as_ref().map(|lane| lane.model.clone()),
        Some(model("test/one"))
    );
    let heard = heard(&events(told).await);
    assert_eq!(heard.text, "hello");
    assert_eq!(heard.end, Some(Ok(StopReason::EndTurn)));
    router.idle().await;
    assert_eq!(router.decisions().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_breaks_before_anything_came_is_sent_again_unseen() {
    for class in [
        FailureClass::Overloaded,
        FailureClass::Offline,
        FailureClass::ServerError,
        FailureClass::Torn,
        FailureClass::Malformed,
    ] {
        let client = ScriptedClient::new([
            Script::fails(failure(class)),
            Script::fails(failure(class)),
            Script::text("there"),
        ]);
        let all = events(router(&client).submit(ask("hi"))).await;
        let heard = heard(&all);
        assert_eq!(
            (heard.text.as_str(), heard.restarts),
            ("there", 0),
            "{class:?}"
        );
        assert_eq!(client.requests().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_in_the_middle_begins_again_behind_a_restart() {
    let client = ScriptedClient::new([
        Script::events([
            start(),
            text("hel"),
            Event::Failed(failure(FailureClass::Torn)),
        ]),
        Script::events([start(), Event::Failed(failure(FailureClass::Overloaded))]),
        Script::text("hello"),
    ]);
    let all = events(router(&client).submit(ask("hi"))).await;
    let heard = heard(&all);
    assert_eq!(heard.text, "hello");
    assert_eq!(
        heard.restarts, 1,
        "the attempt that brought nothing is not seen: {all:?}"
    );
    let at = all
        .iter()
        .position(|event| *event == Event::Restart)
        .unwrap();
    assert_eq!(all[..at], [start(), text("hel")]);
    assert!(
        matches!(all[at + 1], Event::Start { .. }),
        "then the answer begins"
    );
}

#[tokio::test(start_paused = true)]
async fn half_a_call_begins_again_and_a_whole_one_never() {
    let broken = |events: &[Event]| {
        let end = Event::Failed(failure(FailureClass::Torn));
        Script::events(events.iter().cloned().chain([end]))
    };
    let [begin, arguments, end] = call(0);
    let half = broken(&[start(), begin.clone(), arguments.clone()]);
    let client = ScriptedClient::new([half, Script::calls(&[("a", "write", "{}")])]);
    let heard_half = heard(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!(heard_half.calls, [("write".to_owned(), "{}".to_owned())]);
    assert_eq!(heard_half.restarts, 1);

    let whole = broken(&[start(), begin, arguments, end, text("and")]);
    let client = ScriptedClient::new([whole, Script::text("never asked for")]);
    let heard_whole = heard(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!(heard_whole.calls.len(), 1, "it stands");
    assert_eq!(heard_whole.end, Some(Err(FailureClass::Torn)));
    assert_eq!((client.requests().len(), client.left()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn silence_is_noticed_before_the_first_event_and_between_two() {
    let client = ScriptedClient::new([
        Script::default().then_silence(),
        Script::events([start(), text("hel")]).then_silence(),
        Script::text("hello"),
    ]);
    let begin = Instant::now();
    let heard = heard(&events(router(&client).submit(ask("hi"))).await);
    assert_eq!((heard.text.as_str(), heard.restarts), ("hello", 1));
    let took = begin.elapsed().as_secs();
    assert!(
        (360..364).contains(&took),
        "60 s, then 300 s, and two short waits: {took} s"
    );
    assert_eq!(client.cancelled(), 2, "the silent sockets were closed");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_stays_is_told_with_its_class() {
    let never_again = [
        FailureClass::Quota,
        FailureClass::Authentication,
        FailureClass::NoSuchModel,
        FailureClass::InvalidRequest,
        FailureClass::ContextOverflow,
    ];
    for class in never_again {
        let client = ScriptedClient::new([Script::fails(failure(class)), Script::text("no")]);
        let heard = heard(&events(router(&client).submit(ask("hi"))).await);
        assert_eq!(heard.end, Some(Err(class)));
        assert_eq!(client.requests().len(), 1, "{class:?} is not sent again");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_told_while_it_lasts() {
    let client = ScriptedClient::new([Script::fails(limited(7)), Script::text("there")]);
    let told: Vec<Told> = router(&client).submit(ask("hi")).collect().await;
    let waits: Vec<_> = told
        .iter()
        .filter_map(|told| match told {
            Told::Waiting { failure, pause } => Some((failure.class, pause.as_secs())),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [(FailureClass::RateLimited, 7)]);
}

#[tokio::test(start_paused = true)]
async fn a_question_for_a_model_that_nobody_has_is_refused_in_a_sentence() {
    let client = ScriptedClient::default();
    let mut request = request("hi");
    request.model = model("test/other");
    let ask = Ask::chat(request, caller(Class::Turn, 1));
    let all = events(router(&client).submit(ask)).await;
    let Some(Event::Failed(failure)) = all.last() else {
        panic!("{all:?}");
    };
    assert_eq!(failure.class, FailureClass::NoSuchModel);
    assert!(failure.message.contains("test/other"), "{failure}");
}
