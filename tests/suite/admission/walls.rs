//! Another's thing answers as one that does not exist: to every mutation in both languages, every tool and every read, whether
//! the other session is open, closed, or was closed and opened again under the same id.

use reveille::dialect::{Notation, REQUEST_CAPS};
use reveille::domain::{Caller, CallerRole, Scope};
use reveille::edn::{Value, read};
use reveille::graph::mutation::MutationName;
use reveille::service::Service;

use super::ways::{CALLS, READS, Subject, documents, params};
use super::world::{ABSENT, ANOTHER, CLOSED, HOSTED, OWN, REOPENED, World};
use super::{ask, graphql, mcp};

/// What each caller of a session is asked about: everything that is not its own.
fn foreign_to(who: &str, caller: &Caller) -> impl Iterator<Item = &'static str> {
    let own = caller.scope.session().map(|own| own.as_str().to_owned());
    let own = if who == "host by its token" { Some(HOSTED.to_owned()) } else { own };
    // A session knows its own id, so of what an earlier session of it had, only schedules and runs can be foreign to it.
    [OWN, ANOTHER, CLOSED, REOPENED, HOSTED].into_iter().filter(move |name| Some(*name) != own.as_deref())
}

fn callers(world: &World) -> Vec<(&'static str, Caller)> {
    world.callers().into_iter().filter(|(_, caller)| caller.scope != Scope::Operator).collect()
}

/// A call, and how a world answers it.
type Call<'a> = dyn Fn(&World, &Caller, &Subject) -> String + 'a;

/// Asks about a foreign subject and about none, each in a world of its own, and compares the answers byte by byte.
fn compare(what: &str, call: &Call<'_>) {
    let people = callers(&World::new());
    for (at, (who, caller)) in people.iter().enumerate() {
        // Random ids differ from world to world, and callers with them.
        let answer = |name: &str| {
            let world = World::new();
            let (_, caller) = &callers(&world)[at];
            let subject = world.subject(name);
            let own = caller.scope.session().expect("a session").as_str().to_owned();
            subject.hide(&call(&world, caller, subject).replace(&own, "CALLER"))
        };
        let absent = answer(ABSENT);
        for name in foreign_to(who, caller) {
            assert_eq!(answer(name), absent, "{what}: {who} about {name}");
        }
    }
}

#[test]
fn anothers_thing_answers_like_none_to_every_mutation() {
    // An opening says that an id is taken: a client chooses the ids of its sessions, and has to be told.
    for mutation in MutationName::ALL.iter().filter(|it| **it != MutationName::Open) {
        compare(mutation.name(), &|world, caller, subject| {
            let query = format!("[({} {})]", mutation.name(), Value::Map(params(*mutation, subject)));
            ask(&world.handle, caller, &query)
        });
        compare(&format!("{} in GraphQL", mutation.name()), &|world, caller, subject| {
            graphql::mutate(&world.handle, caller, *mutation, &params(*mutation, subject))
        });
    }
}

#[test]
fn anothers_thing_reads_like_none() {
    for read in READS {
        for is_lenient in [false, true] {
            compare(read, &|world, caller, subject| {
                crate::simulated::ask(&world.handle, caller, &subject.put_into(read), is_lenient)
            });
        }
    }
}

#[test]
fn anothers_thing_reads_like_none_in_graphql() {
    for document in documents() {
        compare(&document, &|world, caller, subject| {
            graphql::ask(&world.handle, caller, &subject.put_into(&document))
        });
    }
}

/// A tool that takes the id of a schedule, of whatever kind, is among the calls.
#[test]
fn every_tool_that_names_a_schedule_is_compared() {
    let world = World::new();
    let named = mcp::tools(&world.handle).into_iter().filter(|(_, schema)| {
        ["schedule-id", "schedule_id", "job_id", "task_id", "watcher_id", "action_id", "id"]
            .iter()
            .any(|name| schema.contains(&format!("\"{name}\"")))
    });
    let missing: Vec<String> =
        named.map(|(name, _)| name).filter(|name| !CALLS.iter().any(|(call, _)| call == name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn anothers_schedule_is_none_to_every_tool() {
    for (tool, args) in CALLS {
        compare(&format!("{tool} {args}"), &|world, caller, subject| {
            let args = subject.put_into(args);
            let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
            let answer = Service::new(world.handle.clone()).call_tool(tool, caller, &args, Notation::Edn);
            format!("{:?}", answer.map(|answer| answer.map(|it| it.value.to_string())))
        });
        compare(&format!("{tool} {args} over MCP"), &|world, caller, subject| {
            let args = subject.put_into(args);
            let args = read(args.as_bytes(), &REQUEST_CAPS).expect("EDN");
            mcp::call(&world.handle, caller, tool, &args)
        });
    }
}

/// The comparison would see a difference: a caller's own things do not answer like none.
#[test]
fn ones_own_thing_does_not_answer_like_none() {
    for read in READS {
        let answer = |name: &str| {
            let world = World::new();
            let subject = world.subject(name);
            let query = subject.put_into(read);
            let own = Caller { role: CallerRole::Session, ..crate::simulated::token(OWN) };
            subject.hide(&crate::simulated::ask(&world.handle, &own, &query, true))
        };
        assert_ne!(answer(OWN), answer(ABSENT), "{read}");
    }
    // Nobody has tasks or watches here, and no run was claimed yet.
    let is_there = |document: &String| {
        !["task", "watch", "runs(", "runPage("].iter().any(|name| document.contains(name))
    };
    let documents: Vec<String> = documents().into_iter().filter(is_there).collect();
    assert!(documents.len() >= 12, "{documents:?}");
    for document in &documents {
        let answer = |name: &str| {
            let world = World::new();
            let subject = world.subject(name);
            let own = crate::simulated::token(OWN);
            subject.hide(&graphql::ask(&world.handle, &own, &subject.put_into(document)))
        };
        assert_ne!(answer(OWN), answer(ABSENT), "{document}");
    }
}
