//! Which family of tools a session's grant has to cover for an operation: one family for each operation, whether it is asked for
//! by a mutation, in GraphQL or by a tool. The routes are in `tests/suite/http/hosts.rs`.

use reveille::domain::{CallerRole, Dialect, Grant, GrantChange, Op, Right, Scope};
use reveille::edn::Value;
use reveille::engine::{Command, Input};
use reveille::graph::mutation::MutationName;
use reveille::service::TOOLBOX;

use super::world::{OWN, World};
use super::{ask, calls, graphql, params};
use crate::simulated::{self, session, token};

/// The operations that are of one family, whatever they are asked for by. A mutation of any other is the crate's own tool.
const FAMILIES: [(Op, Dialect); 3] =
    [(Op::Ping, Dialect::Watch), (Op::Remember, Dialect::Memory), (Op::ReportJob, Dialect::SessionAction)];

fn family(op: Op) -> Option<Dialect> {
    FAMILIES.iter().find(|(of, _)| *of == op).map(|(_, family)| *family)
}

#[test]
fn a_mutation_needs_the_grant_of_its_operation_and_no_other() {
    for mutation in MutationName::ALL {
        let rule = mutation.op().rule();
        if !rule.is_granted || !rule.roles.contains(&CallerRole::Session) {
            continue;
        }
        for given in Dialect::ALL {
            for is_graphql in [false, true] {
                let world = World::new();
                let grant = Grant { dialects: Some(vec![*given]), ..Grant::FULL };
                world.handle.sessions().grant(&session(OWN), grant, Scope::Operator).expect("it is open");
                let params = params(*mutation, world.subject(OWN));
                let answer = if is_graphql {
                    graphql::mutate(&world.handle, &token(OWN), *mutation, &params)
                } else {
                    let query = format!("[({} {})]", mutation.name(), Value::Map(params));
                    ask(&world.handle, &token(OWN), &query)
                };
                let may = *given == family(mutation.op()).unwrap_or(Dialect::Native);
                let asked = format!("{}, granted {}, GraphQL {is_graphql}", mutation.name(), given.name());
                assert_eq!(!answer.contains("FORBIDDEN"), may, "{asked}: {answer}");
            }
        }
    }
}

/// A tool exists for those only whose grant covers its family, so an operation of one family has tools of that family alone.
#[test]
fn a_tool_of_such_an_operation_is_of_its_family() {
    for op in Op::ALL {
        assert_eq!(op.rule().family, family(*op), "{}", op.name());
    }
    for (name, args, op) in calls() {
        let Some(family) = family(op) else { continue };
        let tool = TOOLBOX.iter().find(|tool| tool.name == name).expect("a tool");
        assert_eq!(tool.dialect, family, "{name} {args}");
    }
}

/// Two operators who change parts of one grant at once: none undoes what the other has done, whichever comes first.
#[test]
fn two_changes_of_a_grant_both_hold() {
    let none = GrantChange::default();
    let parts = [
        GrantChange { right: Some(None), ..none.clone() },
        GrantChange { right: Some(Some(Right::Read)), ..none.clone() },
        GrantChange { dialects: Some(Some(vec![Dialect::Psi])), ..none.clone() },
        GrantChange { depth: Some(0), ..none.clone() },
        GrantChange { cron_others: Some(true), ..none.clone() },
    ];
    // All were decided by the same look at the grant, before any of them was made.
    for (at, first) in parts.iter().enumerate().skip(1) {
        for second in parts.iter().skip(1).filter(|second| *second != first).chain([&parts[0]]) {
            let (handle, _clock) = simulated::engine(&["alice"]);
            for change in [first, second] {
                let (session, by) = (session("alice"), Scope::Operator.into());
                let command = Command::ChangeGrant { session, change: change.clone(), by };
                handle.submit(Input::Command(command)).expect("it is open");
            }
            let full = Grant::FULL;
            let right = second.right.or(first.right).unwrap_or(full.right);
            let dialects =
                second.dialects.clone().or_else(|| first.dialects.clone()).unwrap_or(full.dialects);
            let depth = second.depth.or(first.depth).unwrap_or(full.depth);
            let cron_others = second.cron_others.or(first.cron_others).unwrap_or(full.cron_others);
            let expected = Grant { right, dialects, depth, cron_others };
            let found = handle.view(|state| state.grants().get(&session("alice")).cloned());
            assert_eq!(found, Some(expected), "{at}: {first:?}, then {second:?}");
        }
    }
}
