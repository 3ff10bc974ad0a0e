//! Monitors over a store: the answer says that one is on disk, and the next life has it.

use std::sync::Arc;

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::Primitives;
use reveille::edn::{Map, Value, read};
use reveille::service::Service;
use reveille::testkit::SimExecutor;

use super::lives::{Life, Lives};
use crate::simulated::token;

#[track_caller]
fn call(life: &Life, tool: &str, args: &str) -> Option<Map> {
    let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let answer = Service::new(life.handle.clone()).call_tool(tool, &token("s"), &args, Notation::Edn);
    answer.expect("it may").map(|answer| answer.value.as_map().expect("a map").clone())
}

fn jobs(life: &Life) -> Vec<Value> {
    let listed = call(life, "CronList", "{}").expect("a tool");
    listed.keyword("jobs").and_then(Value::as_items).expect("a list").to_vec()
}

#[test]
fn a_monitor_outlives_its_process() {
    let lives = Lives::new();
    let life = lives.next(0);
    Arc::new(SimExecutor::scripted(&lives.stage).with("http.get")).serve(&life.handle);
    life.handle.tools().switch(Primitives::all());
    life.open("s");
    let args = r#"{:description "CI" :tool "http.get" :persistent true}"#;
    let started = call(&life, "Monitor", args).expect("a tool");
    assert_eq!(started.keyword("durable"), Some(&Value::Bool(true)), "{started:?}");
    let message = started.keyword("message").and_then(Value::as_str).expect("words");
    assert!(message.contains("on disk"), "{message}");
    let id = started.keyword("taskId").cloned().expect("an id");
    drop(life);
    let life = lives.next(0);
    // Where watches are switched off, there are no monitors either.
    assert_eq!((jobs(&life), call(&life, "Monitor", args)), (Vec::new(), None));
    life.handle.tools().switch(Primitives::all());
    let jobs = jobs(&life);
    let row = jobs.first().and_then(Value::as_map).expect("one row");
    assert_eq!((jobs.len(), row.keyword("id")), (1, Some(&id)), "{jobs:?}");
    assert_eq!(row.keyword("durable"), Some(&Value::Bool(true)), "{row:?}");
}
