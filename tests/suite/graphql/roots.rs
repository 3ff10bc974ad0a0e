//! Where GraphQL begins in the toy world.

use std::sync::Arc;

use reveille::graph::registry::{Attribute, Datum, Entity, Param, ParamGroup, ParamType, Type, Visibility};
use reveille::surface::graphql::{MutationRoot, Pages, QueryKind, QueryRoot, RootPayload, Roots};

use crate::toy::{Tasks, Toy, builder};

/// The toy world with pages: a page's number is the length that was asked for.
pub(crate) fn toy() -> Toy {
    let open = |ident, kind| Attribute::new(ident, kind).doc("Of a page.").visible_to(Visibility::Everyone);
    let page = Entity::<Tasks, u64>::new("task-page", "task-page/number", |_, key| {
        u64::try_from(key.as_int()?).ok()
    })
    .doc("A part of the tasks.")
    .attribute(open("task-page/number", Type::Integer))
    .reads(open("task-page/tasks", Type::Reference("task")).many(), |_, first, _| {
        Ok(reveille::edn::Value::vector((1..=2).filter(|id| *id <= first).map(as_int).collect::<Vec<_>>())
            .into())
    })
    .reads(open("task-page/total-count", Type::Integer), |_, _, _| Ok(Datum::Int(2)))
    .reads(open("task-page/has-next?", Type::Boolean), |_, first, _| Ok(Datum::Bool(first < 2)))
    .reads(open("task-page/has-previous?", Type::Boolean), |_, _, _| Ok(Datum::Bool(false)))
    .reads(open("task-page/start-cursor", Type::String).nullable(), |_, _, _| Ok(Datum::Nil))
    .reads(open("task-page/end-cursor", Type::String).nullable(), |_, first, _| Ok(Datum::shown(first)));
    let pages = Entity::<Tasks, ()>::root("pages")
        .doc("Pages.")
        .reads(open("page", Type::Reference("task-page")).params(&[FIRST]), |_, (), params| {
            Ok(params.keyword("first").cloned().unwrap_or(reveille::edn::Value::Nil).into())
        });
    let registry = builder().entity(page).entity(pages).build().expect("sound declarations");
    Toy { registry: Arc::new(registry), done: Vec::new() }
}

fn as_int(number: u64) -> reveille::edn::Value {
    reveille::edn::Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn roots() -> Roots {
    let query = |name, kind| QueryRoot { name, doc: "Of the toy world.", kind };
    Roots {
        queries: vec![
            query("task", QueryKind::Entity("task")),
            query("tasks", QueryKind::Attribute("page")),
            query("allSlugs", QueryKind::Attribute("all-slugs")),
            query("list", QueryKind::Attribute("tasks")),
            query("p", QueryKind::Attribute("p")),
            query("boom", QueryKind::Attribute("boom")),
            query("all", QueryKind::Root("root")),
        ],
        mutations: vec![
            MutationRoot {
                name: "finish",
                symbol: "task/done",
                has_input: true,
                payload: vec![("task", RootPayload::Entity("task"))],
            },
            MutationRoot {
                name: "fail",
                symbol: "task/bad",
                has_input: false,
                payload: vec![("task", RootPayload::Entity("task"))],
            },
        ],
        subscriptions: vec![],
        pages: vec![Pages { entity: "task-page", entries: "task-page/tasks", cursor: "task/slug" }],
        hidden: vec!["task/secret"],
    }
}

/// How many entries a page has.
const FIRST: &ParamGroup = &ParamGroup {
    doc: "How many.",
    folded: None,
    params: &[Param {
        name: "first",
        alias: None,
        doc: "How many.",
        kind: ParamType::Integer { min: 0, max: 100 },
        is_required: false,
        is_nullable: true,
    }],
};
