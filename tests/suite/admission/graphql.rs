//! Every mutation as GraphQL spells it, generated from the table of its parameters.

use std::sync::Arc;

use reveille::domain::Caller;
use reveille::edn::Map;
use reveille::graph::mutation::MutationName as Name;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

/// The field of each mutation.
fn field(mutation: Name) -> &'static str {
    match mutation {
        Name::Create => "createSchedule",
        Name::Cancel => "cancelSchedule",
        Name::Reschedule => "rescheduleSchedule",
        Name::RunNow => "runScheduleNow",
        Name::Pause => "pauseSchedule",
        Name::Resume => "resumeSchedule",
        Name::SkipNext => "skipNextSlot",
        Name::Retry => "retrySchedule",
        Name::ChangeMany => "changeSchedules",
        Name::CancelAll => "cancelAllSchedules",
        Name::PauseAll => "pauseAllSchedules",
        Name::ResumeAll => "resumeAllSchedules",
        Name::HoldAll => "holdAll",
        Name::ReleaseAll => "releaseAll",
        Name::Approve => "approveRun",
        Name::Deny => "denyRun",
        Name::SetGrant => "setSessionGrant",
        Name::Open => "openSession",
        Name::Close => "closeSession",
        Name::TakeMessages => "takeMessages",
        Name::Remember => "remember",
        Name::SetGoal => "setGoal",
        Name::CreateTask => "createTask",
        Name::UpdateTask => "updateTask",
        Name::UserMessage => "sendUserMessage",
        Name::Busy => "setSessionBusy",
        Name::JobReady => "reportJobReady",
        Name::Ping => "pingSession",
    }
}

/// The document that carries out a mutation.
fn document(mutation: Name, params: &Map) -> String {
    let parts: Vec<String> = params
        .iter()
        .map(|(name, value)| {
            let name = camel(name.as_keyword().expect("a name").as_str());
            // Names of enums are spelt otherwise, and maps are empty here.
            let word = value.as_keyword().map(|word| word.as_str().to_uppercase().replace('-', "_"));
            let part = format!("{name}: {}", word.unwrap_or_else(|| value.to_string()));
            // A filter is one argument in GraphQL.
            let is_of_filter = mutation == Name::ChangeMany && name == "sessionId";
            if is_of_filter { format!("filter: {{{part}}}") } else { part }
        })
        .collect();
    let inner = parts.join(", ");
    let has_input = matches!(mutation, Name::Create | Name::Reschedule);
    let args = match (has_input, inner.is_empty()) {
        (true, _) => format!("(input: {{{inner}}})"),
        (false, true) => inner,
        (false, false) => format!("({inner})"),
    };
    format!("mutation {{ {}{args} {{ __typename }} }}", field(mutation))
}

fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// The answer to a mutation.
pub(super) fn mutate(handle: &Handle, caller: &Caller, mutation: Name, params: &Map) -> String {
    ask(handle, caller, &document(mutation, params))
}

/// The answer to a document.
pub(super) fn ask(handle: &Handle, caller: &Caller, document: &str) -> String {
    let service = Arc::new(GraphqlService::new(&Service::new(handle.clone())).expect("sound roots"));
    let body = serde_json::json!({ "query": document }).to_string();
    let request = GraphqlRequest::from_json(body.as_bytes()).expect("a request");
    let answer = service.answer(caller, &request, false).body;
    assert!(!answer.contains("GRAPHQL_VALIDATION_FAILED"), "{document}: {answer}");
    answer
}
