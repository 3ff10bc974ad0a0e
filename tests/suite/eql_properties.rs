//! Laws of EQL over random queries and random bytes.
//!
//! Lives here: generators and laws. Does not live here: tables of known answers, see `pathom3.rs` and
//! `eql_run.rs`.

use crate::toy::{LIMITS, form, replay, toy};
use proptest::prelude::*;
use reveille::edn::{Caps, Keyword, Map, Symbol, Value, read_keeping_meta};
use reveille::graph::eql::{
    Boundary, Expr, ExprKey, Join, JoinTarget, Limits, MutationCall, Planning, Prop, Query, QueryCaller,
    QueryRefusal, parse, plan,
};
use reveille::graph::registry::Viewer;

const CAPS: Caps = Caps { bytes_max: 4_096, depth_max: 32, digits_max: 32, forms_max: 500 };

/// Tight, so that recursions and fans end soon.
const TIGHT: Limits = Limits { depth: 8, attributes: 60, rows: 300, calls: 300, bytes: 100_000 };

/// Attributes of the registry, and some that it does not know.
fn attr() -> impl Strategy<Value = Keyword> {
    let mut idents: Vec<String> = vec![":>/x".into(), ":nope".into(), ":task/nope".into()];
    idents.extend(toy().registry.attributes().map(|(attribute, _)| format!(":{}", attribute.ident)));
    let keyword = |ident: String| Keyword::new(&ident[1..]).expect("a keyword");
    prop::sample::select(idents).prop_map(keyword)
}

fn key() -> impl Strategy<Value = ExprKey> {
    let id = prop_oneof![(0..6_i64).prop_map(Value::Int), Just(Value::Nil), Just(form("_"))];
    prop_oneof![
        6 => attr().prop_map(ExprKey::Attr),
        1 => (attr(), id).prop_map(|(attr, id)| ExprKey::Ident(attr, id)),
    ]
}

fn params() -> impl Strategy<Value = Option<Map>> {
    let optional = Map::new().with("com.wsscode.pathom3.connect.operation/optional?", true);
    let map = prop_oneof![
        Just(Map::new()),
        Just(optional),
        (0..9_i64).prop_map(|id| Map::new().with("task/id", id)),
    ];
    prop::option::weighted(0.2, map)
}

fn query(depth: u32) -> BoxedStrategy<Query> {
    let prop = (key(), params()).prop_map(|(key, params)| Expr::Prop(Prop { key, params }));
    let expr = if depth == 0 {
        prop_oneof![8 => prop, 1 => Just(Expr::Wildcard)].boxed()
    } else {
        let call = (prop::sample::select(vec!["task/done", "task/bad", "needs", "none"]), params(), query(0));
        let call = call.prop_map(|(name, params, query)| {
            let name = Symbol::new(name).expect("a symbol");
            Expr::Call(MutationCall { name, params: params.unwrap_or_default(), query: Some(query) })
        });
        let join = (key(), params(), target(depth - 1));
        let join = join.prop_map(|(key, params, target)| Expr::Join(Join { key, params, target }));
        prop_oneof![6 => prop, 1 => Just(Expr::Wildcard), 5 => join, 1 => call].boxed()
    };
    prop::collection::vec(expr, 0..5).prop_map(|exprs| Query { exprs, meta: None }).boxed()
}

fn target(depth: u32) -> BoxedStrategy<JoinTarget> {
    let entries = prop::collection::btree_map(attr(), query(depth), 1..3);
    prop_oneof![
        6 => query(depth).prop_map(JoinTarget::Query),
        1 => entries.prop_map(|entries| JoinTarget::Union(entries.into_iter().collect())),
        1 => (0..4_u64).prop_map(JoinTarget::Depth),
        1 => Just(JoinTarget::Unbounded),
    ]
    .boxed()
}

fn answer(query: &Query, is_lenient: bool, limits: Limits) -> Result<Value, QueryRefusal> {
    answer_as(query, is_lenient, limits, Viewer::Operator)
}

fn answer_as(query: &Query, is_lenient: bool, limits: Limits, viewer: Viewer) -> Result<Value, QueryRefusal> {
    let mut toy = toy();
    let boundary = Boundary { query: query.clone(), entity: Map::new(), lenient: None, as_of: None };
    let caller = QueryCaller { viewer, is_lenient, limits, stop: &|| false };
    let registry = std::sync::Arc::clone(&toy.registry);
    let answer = boundary.answer(&registry, &caller, &mut toy)?;
    Ok(boundary.reply(answer).into())
}

/// Whether everything in `part` stands in `whole` too.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole.as_map(), part.as_map(), whole.as_items(), part.as_items()) {
        (Some(whole), Some(part), ..) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| includes(found, value)))
        }
        (_, _, Some(whole), Some(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| includes(whole, part))
        }
        _ => whole == part,
    }
}

fn has_failed(answer: &Value) -> bool {
    answer.as_map().is_some_and(|map| map.keyword("com.wsscode.pathom3.error/error-message").is_some())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_query_prints_and_parses_back(query in query(3)) {
        prop_assert_eq!(parse(&query.to_value()), Ok(query.clone()));
        prop_assert_eq!(Query::from_ast(&query.to_ast()), Ok(query));
    }

    #[test]
    fn answers_and_plans_are_deterministic(query in query(3)) {
        let registry = toy().registry;
        let planning = Planning { seeds: &[], viewer: Viewer::Operator, limits: TIGHT };
        let made = || plan(&query, &registry, &planning).map(|plan| plan.to_value(&registry));
        prop_assert_eq!(made(), made());
        prop_assert_eq!(answer(&query, true, TIGHT), answer(&query, true, TIGHT));
    }

    #[test]
    fn lenient_answers_include_strict_ones(query in query(3)) {
        if let (Ok(strict), Ok(lenient)) = (answer(&query, false, TIGHT), answer(&query, true, TIGHT))
            && !has_failed(&strict)
        {
            prop_assert!(includes(&lenient, &strict), "{lenient} is less than {strict}");
        }
    }

    /// Whatever is asked, what only operators may see stays with them.
    #[test]
    fn walls_hold(query in query(3)) {
        for viewer in [Viewer::Nobody, Viewer::Session] {
            if let Ok(seen) = answer_as(&query, true, TIGHT, viewer) {
                prop_assert!(!seen.to_string().contains("hush"), "{seen}");
            }
        }
    }

    #[test]
    fn wider_limits_change_no_answer(query in query(2)) {
        if let Ok(tight) = answer(&query, true, TIGHT) {
            prop_assert_eq!(answer(&query, true, LIMITS), Ok(tight));
        }
    }

    #[test]
    fn malformed_queries_never_panic(text in "[\\[\\](){}:a-c/ 0-9.*_^\"]{0,60}") {
        if let Ok(value) = read_keeping_meta(text.as_bytes(), &CAPS)
            && let Ok(boundary) = Boundary::read(&value)
        {
            let _ = answer(&boundary.query, true, TIGHT);
            replay(text.as_bytes());
        }
    }
}
