//! Budgets of sessions and of the engine: how much of each is in use.

use super::{attributes, operators, own};
use crate::edn::{Map, Value};
use crate::engine::{Key, SessionRecord};
use crate::graph::params::field;
use crate::graph::registry::{Datum, Entity, Param, ParamType, Record, Type};
use crate::graph::view::{Scheduler, View};
use crate::limits::{Budget, Limit};

/// Declares the budgets of a session.
pub(super) fn of_session(entity: Entity<Scheduler, Key>) -> Entity<Scheduler, Key> {
    attributes! { entity;
        /// What the session and those that come from it use of each budget, and its bound. Empty in a query of the past.
        own "reveille.session/budgets": Type::Record(&BUDGET), many => |view, key, _| {
            Ok(view.session(key).map_or(Datum::Nil, |session| of(view, session).into()))
        };
    }
}

/// Declares the budgets of all callers together.
pub(super) fn of_engine(entity: Entity<Scheduler, ()>) -> Entity<Scheduler, ()> {
    attributes! { entity;
        /// What all callers together use of each budget, and what the family of sessions that uses most of it does. A family
        /// is a session and those that come from it. Empty in a query of the past.
        operators "reveille.engine/budgets": Type::Record(&BUDGET), many => |view, (), _| Ok(all(view).into());
    }
}

/// The fields of a budget.
const BUDGET: Record = Record {
    name: "budget",
    doc: "A budget: how much of it is in use, and its bound.",
    params: &[
        field::<Box<str>>("name", "The name of the budget."),
        field::<Box<str>>(
            "scope",
            "Whose use it is: session or largest-session, each with its family, or all.",
        ),
        Param::shown("used", ParamType::NATURAL, "How much is in use."),
        Param::shown("limit", ParamType::NATURAL, "The bound."),
        field::<Box<str>>("unit", "The unit of both."),
        field::<Box<str>>("limit-name", "The name of the limit, as refusals give it."),
    ],
};

fn of(view: &View<'_>, session: &SessionRecord) -> Value {
    let Some(usage) = view.usage else { return list(Vec::new()) };
    let budget = |budget: &Budget| {
        let limit = budget.of_session()?;
        Some(row(*budget, "session", usage.of_session(*budget, session), limit))
    };
    list(Budget::ALL.iter().filter_map(budget).collect())
}

fn all(view: &View<'_>) -> Value {
    let Some(usage) = view.usage else { return list(Vec::new()) };
    let budget = |budget: &Budget| {
        let all = budget.of_all().map(|limit| row(*budget, "all", usage.of_all(*budget), limit));
        let largest = budget.of_session();
        let largest = largest.map(|limit| row(*budget, "largest-session", usage.of_largest(*budget), limit));
        all.into_iter().chain(largest)
    };
    list(Budget::ALL.iter().flat_map(budget).collect())
}

fn row(budget: Budget, scope: &str, used: u64, limit: Limit) -> Value {
    let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    Map::new()
        .with("name", budget.name())
        .with("scope", scope)
        .with("used", count(used))
        .with("limit", count(limit.value))
        .with("unit", limit.unit)
        .with("limit-name", limit.name)
        .into()
}

fn list(rows: Vec<Value>) -> Value {
    Value::Vector(rows.into())
}
