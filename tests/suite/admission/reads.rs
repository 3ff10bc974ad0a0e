//! The matrix of reads: every way to query the graph, as every kind of caller, is admitted exactly where the rule of its
//! operation says. And what comes in by a channel: its sender is a caller too, who may send and see nothing.

use std::collections::BTreeMap;

use reveille::dialect::REQUEST_CAPS;
use reveille::domain::{Caller, CallerRole, Op};
use reveille::edn::{Map, read};
use reveille::graph::eql::{Boundary, QueryRefusal};
use reveille::service::{Activation, Arrival, Arrived, Inbound, Service};
use reveille::surface::graphql::{GraphqlRequest, GraphqlService};

use super::world::{OWN, World};
use super::{graphql, is_admitted};
use crate::simulated::{self, session};

/// Asks as a caller, and returns whether it was admitted.
type Way = fn(&World, &Caller) -> bool;

const WAYS: &[(&str, Op, Way)] = &[
    ("EQL", Op::Graph, |world, caller| eql(world, caller, "[:psi.scheduler/pending-count]")),
    ("EQL as of an instant", Op::AsOf, |world, caller| {
        let at = world.handle.now().wall;
        eql(
            world,
            caller,
            &format!("{{:pathom/eql [:psi.scheduler/pending-count] :reveille/as-of \"{at}\"}}"),
        )
    }),
    ("GraphQL", Op::Graph, |world, caller| {
        !graphql::ask(&world.handle, caller, "{ pendingCount }").contains("FORBIDDEN")
    }),
    ("GraphQL as of an instant", Op::AsOf, |world, caller| {
        let service = GraphqlService::new(&Service::new(world.handle.clone())).expect("sound roots");
        let as_of = Some(world.handle.now().wall);
        let request = GraphqlRequest { as_of, ..GraphqlRequest::new("{ pendingCount }") };
        !service.answer(caller, &request, true).body.contains("FORBIDDEN")
    }),
    ("the list of tools", Op::Query, |world, caller| {
        !Service::new(world.handle.clone()).toolbox(caller).is_empty()
    }),
];

fn eql(world: &World, caller: &Caller, query: &str) -> bool {
    let form = read(query.as_bytes(), &REQUEST_CAPS).expect("EDN");
    let request = Boundary::read(&form).expect("a request");
    let answer = Service::new(world.handle.clone()).query(caller, &request, false);
    !matches!(answer, Err(QueryRefusal::Forbidden(_)))
}

#[test]
fn a_read_is_for_whom_its_operation_is() {
    let world = World::new();
    let mut callers = world.callers();
    callers.push(("channel", Caller::channel("ops")));
    for (who, caller) in &callers {
        for (way, op, ask) in WAYS {
            assert_eq!(ask(&world, caller), is_admitted(*op, &world, caller), "{who}: {way}");
        }
    }
    // Roles with which nobody asks here would go untested.
    for role in CallerRole::ALL {
        assert!(callers.iter().any(|(_, caller)| caller.role == *role), "{}", role.name());
    }
}

/// Where a read takes time of the session's family, every way to it does: one price for each operation of the graph.
#[test]
fn the_graph_has_one_price() {
    for op in Op::ALL {
        let rule = op.rule();
        let is_of_graph = [Op::Graph, Op::AsOf].contains(op);
        assert_eq!(rule.time.is_some(), is_of_graph, "{}", op.name());
        assert!(rule.time.is_none() || rule.rate.is_none(), "{} is paid for twice", op.name());
    }
}

#[test]
fn an_event_is_by_the_channel_that_it_came_by() {
    let world = World::new();
    let service = Service::new(world.handle.clone());
    let to = Inbound { session: Activation::Session(session(OWN)), filter: None, text: None };
    service.open_inbound(BTreeMap::from([("ops".into(), to)]));
    let payload = Map::new().into();
    let arrival =
        Arrival { event: "e-1".into(), source: "ci".into(), message: None, payload, simulated: None };
    let arrived = service.arrive("ops", &arrival).expect("it is open");
    assert!(matches!(arrived, Arrived::Begun { .. }), "{arrived:?}");
    let by = "[{(:reveille.engine/decisions {:by \"ops\"}) [:reveille.decision/kind :reveille.decision/by]}]";
    let decided = simulated::ask(&world.handle, &Caller::OPERATOR, by, false);
    assert!(decided.contains(":schedule-created") && decided.contains("channel ops"), "{decided}");
}
