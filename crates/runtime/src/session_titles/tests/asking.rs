//! Requests for titles over a real wire, and what the list shows afterwards.

use base::AbsPath;
use host::{Dirs, Files as _, RealFiles, TempFolder};
use mockllm::{MockServer, Script};

use super::*;
use crate::Error;
use crate::agent_services::AgentServices;
use crate::indexes::IndexRegistry;

const SCRIPT: &str = r#"{ "rules": [
    { "match": { "user": { "regex": "door" } }, "faults": [{ "fault": { "authentication": {} } }] },
    { "reply": [{ "text": "\"Dach flicken.\"\n" }] }
] }"#;

async fn services(url: &str, folder: &AbsPath) -> AgentServices {
    let dirs = Dirs::under(folder);
    dirs.create().expect("folders");
    let settings = format!(
        r#"{{ "models": {{ "default": "mock/m",
            "providers": [{{ "name": "mock", "wire": "openai", "url": "{url}/v1", "models": ["m"] }}] }} }}"#
    );
    let write = |path: AbsPath, text: &str| {
        let written = RealFiles.write_private(&path, text.as_bytes());
        written.expect("written");
    };
    write(dirs.config.join("settings.json"), &settings);
    let tables = dirs.config.join("models");
    RealFiles.create_folder(&tables).expect("a folder");
    let prices = r#"{ "format": 1, "rows": [
        { "provider": "mock", "model": "m", "kind": "chat", "context": 100000, "output": 8192,
          "price": { "input": 1000000, "output": 10000000 }, "source": "the story", "date": "2026-01-01" }
    ] }"#;
    write(tables.join("prices.json"), prices);
    let indexes = IndexRegistry::new(&dirs);
    let open_files = |_: &AbsPath| Default::default();
    let opened = AgentServices::open(&dirs, Default::default(), open_files, indexes).await;
    opened.expect("the services open")
}

async fn add_session(services: &AgentServices, id: &str, prompt: &str) {
    let records = [
        SessionRecord::Began {
            root: "/p".to_owned(),
            parent: None,
            forked_from: None,
            mode: SessionMode::Build,
            model: "mock/m".to_owned(),
        },
        SessionRecord::Prompted {
            turn: 1,
            parts: vec![stored_parts::text(prompt)],
            is_steering: false,
        },
        SessionRecord::TurnEnded {
            turn: 1,
            end: TurnEnd::Done,
        },
    ];
    let stored: Vec<Stored> = (0..)
        .zip(records)
        .map(|(seq, record)| Stored {
            seq,
            at_ms: 1,
            record,
        })
        .collect();
    let store = services.factory().store();
    let created = store.create_session(id, "/p", &stored).await;
    created.expect("written");
}

async fn title_in_list(services: &AgentServices, id: &str) -> (String, u64) {
    let line = services.summary(id).await.expect("read");
    let line = line.expect("it is listed");
    (line.title, line.cost_nano)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_writes_the_title_and_its_cost_counts() {
    let folder = TempFolder::new().expect("a folder");
    let server = MockServer::start(Script::parse("titles", SCRIPT).expect("a script"));
    let server = server.expect("a server");
    let services = services(&server.url(), folder.path()).await;
    add_session(&services, "s", "Repariere das Dach").await;
    let before = server.requests().len();
    services.title_session("s").await.expect("titled");
    let (title, cost) = title_in_list(&services, "s").await;
    assert_eq!(title, "Dach flicken");
    services.wait_idle().await.expect("recorded");
    let calls = services.usage_store().calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].cost.map(|cost| cost.0), Some(cost));
    // A second turn asks for no other title.
    services.title_session("s").await.expect("nothing to do");
    assert_eq!(server.requests().len(), before + 1);

    // The provider fails: the first words stay, and the session is not asked for again.
    add_session(&services, "t", "Paint the door").await;
    let refused = services.title_session("t").await;
    assert!(matches!(refused, Err(Error::Model(_))), "{refused:?}");
    assert_eq!(title_in_list(&services, "t").await.0, "Paint the door");
    let asked = server.requests().len();
    services.title_session("t").await.expect("nothing to do");
    assert_eq!(server.requests().len(), asked);
}
