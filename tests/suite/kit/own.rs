//! Reveille's own tools, as other tools call them.

use reveille::dialect::Notation;
use reveille::domain::{Caller, Primitives};
use reveille::service::Service;
use reveille::surface::json;

use super::world::{World, session};

/// T5.
#[test]
fn own_tools_are_called_in_the_sessions_name_and_none_of_them_schedules() {
    let world = World::new(|it| it);
    world.open("s");
    world.handle.tools().switch(Primitives::all());
    let service = Service::new(world.handle.clone());
    let caller = Caller::session(session("s")).as_model();
    let call = |args: &str| {
        let args = json::read(args.as_bytes(), &reveille::dialect::REQUEST_CAPS).expect("JSON");
        let answer = service.call_tool("run_parallel", &caller, &args, Notation::Json);
        let answer = answer.expect("admitted").expect("it is there");
        let mut text = String::new();
        json::write(&answer.value, &mut text);
        text
    };
    let text = call(
        r#"{"actions":[{"name":"memory.remember","params":{"content":"the sky is blue"}},{"name":"reveille.list"},
            {"name":"reveille.query","params":{"query":"[:psi.scheduler/pending-count]"}},
            {"name":"memory.remember","params":{"content":7}},{"name":"reveille.create","params":{"message":"m"}},
            {"name":"memory.remember","params":{"content":" "}}]}"#,
    );
    for part in [
        r#""index":0,"name":"memory.remember","success":true"#,
        r#""index":1,"name":"reveille.list","success":true"#,
        r#""index":2,"name":"reveille.query","success":true"#,
        r#""index":3,"name":"memory.remember","success":false"#,
        r#""error":"params.content must be of type string, not integer"}"#,
        r#""index":4,"name":"reveille.create","success":false,"error":"Tool 'reveille.create' not found."#,
        r#""index":5,"name":"memory.remember","success":false"#,
        r#""error":"content must not be blank"#,
        r#""total":6,"succeeded":3,"failed":3"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for name in SPELLINGS {
        let text = call(&format!(r#"{{"actions":[{}]}}"#, remember(name)));
        assert!(text.contains(r#""total":1,"succeeded":1"#), "{text}");
    }
    let kit = service.kit(&caller).to_string();
    assert!(kit.contains("\"reveille.query\"") && kit.contains(":executor :own"), "{kit}");
    // What is switched off is not there.
    world.handle.tools().switch(Primitives::default());
    assert!(!service.kit(&caller).to_string().contains("memory.remember"));
}

#[test]
fn a_task_may_be_named_in_each_spelling_of_its_tool() {
    let world = World::new(|it| it);
    world.open("s");
    world.handle.tools().switch(Primitives::all());
    let caller = Caller::session(session("s")).as_model();
    for name in SPELLINGS {
        // A refusal would be there at once.
        let (said, _waiter) = world.begin("background_run", &caller, &remember(name));
        assert!(!said.is_error(), "{}", said.text());
    }
}

/// Each spelling of a tool that a session can write elsewhere.
const SPELLINGS: [&str; 5] =
    ["Remember", "memory__remember", "memory_remember", "tools.memory.remember", "tools__memory__remember"];

fn remember(name: &str) -> String {
    format!(r#"{{"name":"{name}","params":{{"content":"by {name}"}}}}"#)
}
