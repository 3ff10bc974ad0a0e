//! Every mutation over GraphQL, as the table of its parameters spells it (`ways.rs`).

use std::sync::Arc;

use reveille::domain::Caller;
use reveille::edn::Map;
use reveille::graph::mutation::MutationName;
use reveille::runtime::Handle;
use reveille::service::Service;
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use super::ways::document;

/// The answer to a mutation.
pub(super) fn mutate(handle: &Handle, caller: &Caller, mutation: MutationName, params: &Map) -> String {
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
