//! The executor beyond what Pathom was asked: limits, walls, causes, boundary.
//!
//! Lives here: rows of request and answer over the toy world. Does not live here: Pathom's own rows, see
//! `pathom3.rs`, and laws over random queries, see `eql_properties.rs`.

use std::cell::Cell;

use crate::toy::{CAPS, LIMITS, ask, ask_as, form, keys, toy};
use reveille::edn::{Caps, Keyword, Map, Value, read_keeping_meta};
use reveille::graph::eql::{
    Boundary, Cause, Limits, Planning, Query, QueryAnswer, QueryCaller, QueryRefusal, parse, plan,
};
use reveille::graph::registry::Viewer;

#[track_caller]
fn check(request: &str, is_lenient: bool, expected: &str) {
    let answer = ask(&mut toy(), request, is_lenient).expect("within the limits");
    assert_eq!(answer, form(&keys(expected)), "{request}");
}

#[test]
fn causes_stand_where_they_belong() {
    check(
        "[{:tasks [:task/kind :nope]} :boom]",
        true,
        "{:tasks [{:task/kind :odd :PCR/attribute-errors {:nope {:PERR/cause :PERR/attribute-unreachable}}}
                  {:task/kind :even :PCR/attribute-errors {:nope {:PERR/cause :PERR/attribute-unreachable}}}]
          :PCR/attribute-errors {:boom {:PERR/cause :PERR/node-errors :PERR/node-error-details
            {1 {:PERR/cause :PERR/node-exception
                :PERR/exception {:PERR/error-message \"boom\" :PERR/error-data {:code 7}}}}}}}",
    );
    check(
        "[{[:task/id \"x\"] [:task/slug]}]",
        true,
        "{[:task/id \"x\"] {:PCR/attribute-errors {:task/slug {:PERR/cause :PERR/node-errors
           :PERR/node-error-details {1 {:PERR/cause :PERR/node-exception
             :PERR/exception {:PERR/error-message \"the id is no number\" :PERR/error-data nil}}}}}}}",
    );
    check("[(:nope {:PCO/optional? true}) (:p {:PCO/optional? true :a 1})]", false, "{:p {:a 1}}");
    check(
        "[(:boom {:PCO/optional? true})]",
        true,
        "{:PCR/attribute-errors {:boom {:PERR/cause :PERR/node-errors :PERR/node-error-details
            {1 {:PERR/cause :PERR/node-exception
                :PERR/exception {:PERR/error-message \"boom\" :PERR/error-data {:code 7}}}}}}}",
    );
}

#[test]
fn mutations_run_in_order_and_before_reads() {
    let mut toy = toy();
    let request = "[(task/done {:task/id 4}) {(task/done {:task/id 5}) [:task/title]} (needs {:a 1})]";
    let expected = form("{task/done {:task/title \"t5\"} needs {:got 1}}");
    assert_eq!(ask(&mut toy, request, false), Ok(expected));
    assert_eq!(toy.done, [4, 5]);
    check(
        "[(needs {}) (task/bad {}) :tasks]",
        true,
        "{needs {:PCR/mutation-error {:PERR/error-message \"needs requires the parameter :a\"
                                      :PERR/error-data {:parameter :a :missing :a :expected \"a map\"
                                                        :hint \"give a map\"}}}
          task/bad {:PCR/mutation-error {:PERR/error-message \"nope\" :PERR/error-data nil}}
          :tasks [{:task/id 1} {:task/id 2}]}",
    );
    for wrong in ["[(task/done {:task/id 6}) :nope]", "[(task/done {:task/id 6}) (task/none {})]"] {
        let failed = ask(&mut toy, wrong, false).expect("within the limits").to_string();
        assert!(failed.contains("Error while processing"), "{wrong}: {failed}");
    }
    let refused = ask(&mut toy, "[{:tasks [(task/done {:task/id 9})]}]", true);
    assert!(matches!(refused, Err(QueryRefusal::NestedMutation(_))), "{refused:?}");
    assert_eq!(toy.done, [4, 5]);
}

#[test]
fn boundary_maps() {
    check("{:pathom/eql [:task/title] :pathom/entity {:task/id 7}}", false, "{:task/title \"t7\"}");
    check(
        "{:pathom/eql [:nope] :pathom/lenient-mode? true}",
        false,
        "{:PCR/attribute-errors {:nope {:PERR/cause :PERR/attribute-unreachable}}}",
    );
    check(
        "{:pathom/eql [:nope] :pathom/entity {:x 1}}",
        false,
        "{:PERR/error-message \"Error while processing request [:nope] for entity {:x 1}\"
          :PERR/error-data {:entity {:x 1} :tx [:nope]}}",
    );
    for wrong in ["{}", "{:pathom/eql [:a] :pathom/entity 7}", "7", "{:pathom/ast 7}"] {
        assert!(Boundary::read(&form(wrong)).is_err(), "{wrong}");
    }
}

/// A key that is passed over would leave the caller with the answer to another question.
#[test]
fn boundary_maps_have_no_other_keys() {
    for (wrong, expected) in [
        (
            ":pathom/lenient-mode true",
            "has no such key, the nearest is :pathom/lenient-mode?: :pathom/lenient-mode",
        ),
        (":pathom/entiti {:task/id 7}", "the nearest is :pathom/entity: :pathom/entiti"),
        (":entity {:task/id 7}", "the nearest is :pathom/entity: :entity"),
        ("\"pathom/entity\" {:task/id 7}", "the nearest is :pathom/entity: \"pathom/entity\""),
        (":foo 1", "but these: :pathom/eql :pathom/ast :pathom/entity :pathom/lenient-mode?"),
        (":pathom/lenient-mode? \"yes\"", "a mode is true or false, not a string: \"yes\""),
        (
            ":pathom/include-stats? 1",
            "a mode is true or false, not an integer: 1, at [:pathom/include-stats?]",
        ),
    ] {
        let request = form(&format!("{{:pathom/eql [:task/title] {wrong}}}"));
        let error = Boundary::read(&request).expect_err(wrong).to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
    let all = "{:pathom/eql [:task/title] :pathom/entity {:task/id 7} :pathom/lenient-mode? nil \
                :pathom/include-stats? false}";
    check(all, false, "{:task/title \"t7\"}");
}

/// A Pathom that has joined us sends trees, with inputs as parameters of placeholders that it names `>/foreign-0` and so on.
#[test]
fn boundary_takes_trees() {
    check(
        "{:pathom/ast {:type :root :children [{:type :join :key :>/foreign-0 :dispatch-key :>/foreign-0
           :params {:task/id 3} :children [{:type :prop :key :task/title :dispatch-key :task/title}]}]}}",
        false,
        "{:>/foreign-0 {:task/title \"t3\"}}",
    );
    for text in [
        "[:a * (:b {:p 1}) {[:c 1] [:d {:e ...}]} (m/f) {(m/g {:x 1}) [:r]} {:k 3}]",
        "^:m [({:u {:a [:b] :c [{:d [:e]}]}} {:p 1}) []]",
        "[({:u {:a [:b] :c [{:d [:e]}]}} {:p 1}) [:i 2]]",
    ] {
        let Ok(query) = parse(&form(text)) else { continue };
        let again = Query::from_ast(&query.to_ast()).expect("a tree of ours");
        assert_eq!(again.exprs, query.exprs, "{text}");
    }
}

/// To Pathom the parameters of a placeholder mean nothing, unless a plugin is installed; here they are refused, like every
/// parameter that nothing reads.
#[test]
fn placeholders_and_idents_take_no_parameters() {
    for wrong in ["[{(:>/x {:task/id 3}) [:task/title]}]", "[{([:task/id 1] {:task/id 3}) [:task/title]}]"] {
        let failed = ask(&mut toy(), wrong, false).expect("within the limits").to_string();
        assert!(failed.contains("Error while processing"), "{wrong}: {failed}");
        let lenient = ask(&mut toy(), wrong, true).expect("within the limits").to_string();
        assert!(lenient.contains("takes no parameters") && !lenient.contains("\"t3\""), "{wrong}: {lenient}");
    }
    check("[{:>/x [{[:task/id 3] [:task/title]}]}]", false, "{:>/x {[:task/id 3] {:task/title \"t3\"}}}");
}

#[test]
fn viewers_see_what_they_may() {
    let caller = |viewer| QueryCaller { viewer, is_lenient: true, limits: LIMITS, stop: &|| false };
    let faults = Value::keyword("reveille.error/faults");
    let secret = "[{[:task/id 1] [:task/secret]} (task/bad {})]";
    let seen = ask_as(&mut toy(), secret, &caller(Viewer::Operator));
    assert!(seen.expect("answered").to_string().contains("hush"));
    let hidden = ask_as(&mut toy(), secret, &caller(Viewer::Session)).expect("answered");
    let absent = ask_as(
        &mut toy(),
        &secret.replace("secret", "absent").replace("bad", "none"),
        &caller(Viewer::Session),
    );
    // A name that looks like an attribute's is told so, whether it is hidden or not there at all; these two are hidden alike.
    let without = |answer: Value| {
        let entries = answer.as_map().cloned().unwrap_or_default().into_iter();
        Value::from(entries.filter(|(key, _)| *key != faults).collect::<Map>()).to_string()
    };
    let absent = without(absent.expect("answered"));
    assert_eq!(without(hidden), absent.replace("absent", "secret").replace("none", "bad"));

    let whole = "{:pathom/entity {:task/id 1 :task/secret \"mine\" :tasks [{:task/secret \"s\" :task/id 3}]}
                  :pathom/eql [:tasks *]}";
    let answer = ask_as(&mut toy(), whole, &caller(Viewer::Session));
    assert_eq!(answer, Ok(form("{:tasks [{:task/id 3}] :task/id 1}")), "neither whole nor by wildcard");
}

#[test]
fn limits_refuse() {
    let limited = |limits, request: &str| {
        let caller = QueryCaller { viewer: Viewer::Operator, is_lenient: true, limits, stop: &|| false };
        ask_as(&mut toy(), request, &caller)
    };
    let deep = "[{[:task/id 1] [{:task/kids [{:task/kids [:task/id]}]}]}]";
    assert!(limited(Limits { depth: 4, ..LIMITS }, deep).is_ok());
    let refused = |limit, max| Err(QueryRefusal::Limit { limit, max });
    assert_eq!(limited(Limits { depth: 3, ..LIMITS }, deep), refused("depth", 3));
    let recursive = "[{[:c/id 0] [{:c/next 1000}]}]";
    assert_eq!(limited(LIMITS, recursive), refused("depth", 64));
    assert_eq!(limited(Limits { rows: 7, ..LIMITS }, deep), refused("rows", 7));
    assert_eq!(limited(Limits { attributes: 3, ..LIMITS }, deep), refused("attributes", 3));
    assert_eq!(limited(Limits { calls: 1, ..LIMITS }, deep), refused("calls", 1));
    assert_eq!(limited(Limits { bytes: 3, ..LIMITS }, deep), refused("bytes", 3));

    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) >= 2;
    let caller = QueryCaller { viewer: Viewer::Operator, is_lenient: true, limits: LIMITS, stop: &stop };
    assert_eq!(ask_as(&mut toy(), deep, &caller), Err(QueryRefusal::Stopped));
}

/// Requests made to hurt are refused, or answered at a cost that grows with their length.
#[test]
fn requests_made_to_hurt() {
    let many = |count: i64, item: &dyn Fn(i64) -> String| (0..count).map(item).collect::<String>();
    let entity = |inner: String, query: &str| format!("{{:pathom/entity {{{inner}}} :pathom/eql {query}}}");
    let refused = |limit, max| Err(QueryRefusal::Limit { limit, max });
    let keys = many(20_000, &|at| format!(":k{at} 1 "));
    assert_eq!(large(&entity(keys.clone(), "[:a]")), refused("attributes", 1_000));
    assert_eq!(large(&format!("[({{:>/foreign-0 [:a]}} {{{keys}}})]")), refused("attributes", 1_000));
    assert!(large(&entity(format!(":tasks [{{{keys}}} {{{keys}}}]"), "[{:tasks [* :task/id]}]")).is_ok());
    let chain = format!(":tasks {{{keys} :tasks {{{keys} :tasks {{{keys}}}}}}}");
    assert!(large(&entity(chain, "[{:tasks ...}]")).is_ok());
    // Each of these would want a plan of its own.
    let idents: Vec<String> =
        toy().registry.attributes().map(|(attribute, _)| format!(":{} 1 ", attribute.ident)).collect();
    let shape = |at: i64| -> String {
        let chosen = idents.iter().enumerate().filter(|(bit, _)| at >> (bit % 12) & 1 == 1);
        format!("{{{}}}", chosen.map(|(_, ident)| ident.as_str()).collect::<String>())
    };
    assert_eq!(
        large(&entity(format!(":tasks [{}]", many(4_096, &shape)), "[{:tasks [:all-slugs]}]")),
        refused("calls", 1_000)
    );
    assert_eq!(large(&format!("[{}]", many(5_000, &|at| format!(":k{at} ")))), refused("attributes", 1_000));
    assert_eq!(large("[{[:task/id 1] [:task/kids {:>/a ...} {:>/b ...}]}]"), refused("depth", 64));
}

fn large(request: &str) -> Result<Value, QueryRefusal> {
    let caps = Caps { bytes_max: 8 << 20, forms_max: 1_000_000, ..CAPS };
    let value = read_keeping_meta(request.as_bytes(), &caps).expect("EDN");
    let boundary = Boundary::read(&value).expect("a request");
    let caller = QueryCaller { viewer: Viewer::Operator, is_lenient: true, limits: LIMITS, stop: &|| false };
    let mut toy = toy();
    let registry = std::sync::Arc::clone(&toy.registry);
    Ok(boundary.reply(boundary.answer(&registry, &caller, &mut toy)?).into())
}

#[test]
fn plans_are_values() {
    let toy = toy();
    let query = parse(&form("[{:tasks [:task/slug :nope]} (:p {:a 1})]")).expect("a query");
    let seeds = [Keyword::new("x").expect("a keyword")];
    let planning = Planning { seeds: &seeds, viewer: Viewer::Operator, limits: LIMITS };
    let plan = plan(&query, &toy.registry, &planning).expect("within the limits");
    assert_eq!(
        plan.to_value(&toy.registry),
        form(
            "{:calls [{:call read/root :for [:tasks] :batch? true}
                      {:call read/root :for [:p] :params {:a 1} :batch? true}]
              :joins {:tasks {:calls [{:call read/task :for [:task/slug] :batch? true}]
                              :unreachable [:nope]}}}"
        )
    );
    assert!(!plan.has_mutations());
}

#[test]
fn failures_say_why() {
    let rows = [
        (
            "[:nope]",
            Cause::Unreachable,
            ":nope",
            "there is no attribute :nope; query [:psi.graph/attributes] for a list",
        ),
        ("[:task]", Cause::Unreachable, ":task", "there is no attribute :task; did you mean :tasks?"),
        ("[:boom]", Cause::Exception, ":boom", "boom"),
        (
            "[:task/title]",
            Cause::Unreachable,
            ":task/title",
            ":task/title cannot be reached from here; \
             it is an attribute of the entity \"task\": select it below a join to one, \
             or below [:task/id …]",
        ),
        (
            "[{[:task/id 500] [:task/title]}]",
            Cause::Missing,
            ":task/title",
            "there is no value for :task/title; \
             its entity does not exist or is hidden from you; lenient mode answers the rest of the query",
        ),
        (
            "[{:tasks [:x/title]}]",
            Cause::Unreachable,
            ":x/title",
            "there is no attribute :x/title; did you mean :task/title?",
        ),
        ("[(task/bad {})]", Cause::Mutation, "task/bad", "nope"),
        (
            "[(task/dne {})]",
            Cause::Mutation,
            "task/dne",
            "there is no mutation task/dne; did you mean task/done?",
        ),
        (
            "[(x {})]",
            Cause::Mutation,
            "x",
            "there is no mutation x; query [:psi.graph/mutation-syms] for a list",
        ),
        (
            "[{[:c/id 0] [{:c/next ...}]}]",
            Cause::Cycle,
            ":c/next",
            "the recursion of :c/next has no end: it comes back to {:c/id 0}; \
             give a depth in the place of ..., as in {:c/next 2}",
        ),
    ];
    for (text, cause, key, said) in rows {
        let mut toy = toy();
        let boundary = Boundary::read(&form(text)).expect("a request");
        let caller =
            QueryCaller { viewer: Viewer::Operator, is_lenient: false, limits: LIMITS, stop: &|| false };
        let registry = std::sync::Arc::clone(&toy.registry);
        let failure = match boundary.answer(&registry, &caller, &mut toy).expect("within the limits") {
            QueryAnswer::Done(map) => panic!("{map:?}"),
            QueryAnswer::Failed(failure) => failure,
        };
        assert_eq!((failure.cause, failure.key.to_string().as_str()), (cause, key), "{text}");
        let words = failure.error.map(|error| {
            let hint = error.data.as_map().and_then(|data| data.keyword("hint")?.as_str().map(str::to_owned));
            hint.map_or(error.message.clone(), |hint| format!("{}; {hint}", error.message))
        });
        assert_eq!(words.unwrap_or_default(), said, "{text}");
    }
}

/// Keys stand in the order of the query; of equal keys the last one holds, at the place of the first.
#[test]
fn order_is_the_querys() {
    let text = |request: &str| ask(&mut toy(), request, false).expect("answered").to_string();
    assert_eq!(text("[(:p {:a 1}) :tasks (:p {:a 2})]"), "{:p {:a 2} :tasks [{:task/id 1} {:task/id 2}]}");
    assert_eq!(text("[{[:task/id 1] [* :task/kind]}]"), "{[:task/id 1] {:task/kind :odd :task/id 1}}");
    assert_eq!(text("[:tasks {:tasks [:task/kind]}]"), "{:tasks [{:task/kind :odd} {:task/kind :even}]}");
}

#[test]
fn introspection_answers() {
    let mut toy = toy();
    let roots = ask(&mut toy, "[:psi.graph/root-queryable-attrs]", false).expect("answered");
    let roots = roots.as_map().and_then(|map| map.keyword("psi.graph/root-queryable-attrs")).cloned();
    let roots = roots.as_ref().and_then(Value::as_items).expect("a vector");
    assert!(roots.windows(2).all(|pair| pair[0] < pair[1]), "sorted");
    let query = Value::vector(
        roots.iter().filter(|key| **key != Value::keyword("boom")).cloned().collect::<Vec<_>>(),
    );
    let all = ask(&mut toy, &query.to_string(), false).expect("answered");
    assert_eq!(all.as_map().map(Map::len), Some(roots.len() - 1), "all of them resolve in one query");
    check(
        "[:psi.graph/mutation-syms {[:psi.resolver/sym read/c] [:psi.resolver/input :psi.resolver/output]}
          {[:psi.resolver/sym toy/none] [:psi.resolver/input]} :psi.graph/root-seeds]",
        false,
        "{:psi.graph/mutation-syms [needs task/bad task/done]
          [:psi.resolver/sym read/c] {:psi.resolver/input [:c/id] :psi.resolver/output [:c/next]}
          [:psi.resolver/sym toy/none] {:psi.resolver/input nil} :psi.graph/root-seeds [:circle/r :got :other :sq/side :x]}",
    );
    let part = |map: &Value, path: &[&str]| {
        let step = |value: Value, key: &&str| value.as_map()?.get(&form(&keys(key))).cloned();
        path.iter().try_fold(map.clone(), step).unwrap_or(Value::Nil)
    };
    let index = part(&all, &[":psi.graph/attr-index", ":c/next"]);
    assert_eq!(index, form("{:psi.attr/produced-by [read/c] :psi.attr/reachable-via {}}"));
    let pathom = part(&all, &[":PCI/indexes"]);
    assert_eq!(part(&pathom, &[":PCI/index-oir", ":c/next"]), form("{{:c/id {}} #{read/c}}"));
    assert_eq!(part(&pathom, &[":PCI/index-io", "#{:c/id}"]), form("{:c/next {:c/id {}}}"));
}
