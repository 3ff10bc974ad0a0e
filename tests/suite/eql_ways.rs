//! Several ways to one attribute: the nearest first, the next one where it fails.

use std::cell::RefCell;

use reveille::edn::{Caps, Map, Value, read_keeping_meta};
use reveille::graph::eql::{Boundary, Caller, Limits};
use reveille::graph::registry::{
    Access, Attribute, Entity, Registry, Resolver, ResolverError, Type, Viewer, Visibility, World,
};

const CAPS: Caps = Caps { bytes_max: 4_096, depth_max: 32, digits_max: 32, forms_max: 500 };
const LIMITS: Limits = Limits { depth: 8, attributes: 60, rows: 300, calls: 300 };

/// Remembers which resolvers were called.
struct Ways(RefCell<Vec<&'static str>>);

struct Ground;

impl World for Ground {
    type View<'a> = Ways;
    type Hand<'a> = ();
}

impl Access<Ground> for Ways {
    fn look(&mut self, reading: &mut dyn FnMut(&Self)) {
        reading(self);
    }

    fn act(&mut self, acting: &mut dyn FnMut(())) {
        acting(());
    }
}

/// `:a` gives `:b` where it is even, else nothing; `:a` gives `:c`, and `:c` gives `:b`, where `:a` is no 3,
/// for which it fails. `:b` and `:d` give each other. `:secret` stands between `:a` and `:e`.
fn registry() -> Registry<Ground> {
    let seed =
        |ident| Attribute::new(ident, Type::Integer).doc("A stop.").visible_to(Visibility::Everyone).seed();
    let stop = |ident| Attribute { is_seed: false, ..seed(ident) };
    let entity = Entity::<Ground, ()>::root("ways").doc("Stops.").attribute(seed("a"));
    let entity = ["b", "c", "d", "e"].into_iter().fold(entity, |entity, ident| entity.attribute(stop(ident)));
    let entity = entity.attribute(stop("secret").visible_to(Visibility::Operator));
    Registry::builder()
        .entity(entity)
        .resolver(
            Resolver::<Ground>::new("far/b", "[:b]", |ways, input, _| go(ways, "far", input, "c", "b"))
                .input("[:c]"),
        )
        .resolver(
            Resolver::<Ground>::new("w/c", "[:c]", |ways, input, _| go(ways, "c", input, "a", "c"))
                .input("[:a]"),
        )
        .resolver(Resolver::<Ground>::new("near/b", "[:b]", near).input("[:a]"))
        .resolver(
            Resolver::<Ground>::new("w/d", "[:d]", |ways, input, _| go(ways, "d", input, "b", "d"))
                .input("[:b]"),
        )
        .resolver(
            Resolver::<Ground>::new("back/b", "[:b]", |ways, input, _| go(ways, "back", input, "d", "b"))
                .input("[:d]"),
        )
        .resolver(
            Resolver::<Ground>::new("w/s", "[:secret]", |ways, input, _| go(ways, "s", input, "a", "secret"))
                .input("[:a]"),
        )
        .resolver(
            Resolver::<Ground>::new("w/e", "[:e]", |ways, input, _| go(ways, "e", input, "secret", "e"))
                .input("[:secret]"),
        )
        .build()
        .expect("sound declarations")
}

fn near(ways: &Ways, input: &Map, _: &Map) -> Result<Map, ResolverError> {
    ways.0.borrow_mut().push("near");
    let is_even = input.keyword("a").and_then(Value::as_int).is_some_and(|a| a % 2 == 0);
    Ok(if is_even { Map::new().with("b", 2) } else { Map::new() })
}

fn go(ways: &Ways, name: &'static str, input: &Map, from: &str, to: &str) -> Result<Map, ResolverError> {
    ways.0.borrow_mut().push(name);
    let value = input.keyword(from).cloned().unwrap_or(Value::Nil);
    if value.as_int() == Some(3) {
        return Err(ResolverError::new("three", Value::Nil));
    }
    Ok(Map::new().with(to, value))
}

#[track_caller]
fn check(request: &str, viewer: Viewer, expected: &str, called: &[&str]) {
    let form = |text: &str| read_keeping_meta(text.as_bytes(), &CAPS).expect(text);
    let boundary = Boundary::read(&form(request)).expect("a request");
    let mut ways = Ways(RefCell::default());
    let caller = Caller { viewer, is_lenient: false, limits: LIMITS, stop: &|| false };
    let answer = boundary.answer(&registry(), &caller, &mut ways).expect("within the limits");
    assert_eq!(Value::Map(boundary.reply(answer)), form(expected), "{request}");
    assert_eq!(*ways.0.borrow(), called, "{request}");
}

#[test]
fn the_nearest_way_is_taken_first() {
    check("{:pathom/entity {:a 2} :pathom/eql [:b]}", Viewer::Nobody, "{:b 2}", &["near"]);
}

#[test]
fn where_it_fails_the_next_one_is_taken() {
    check("{:pathom/entity {:a 1} :pathom/eql [:b]}", Viewer::Nobody, "{:b 1}", &["near", "c", "far"]);
    check("{:pathom/entity {:a 1} :pathom/eql [:d]}", Viewer::Nobody, "{:d 1}", &["near", "c", "far", "d"]);
}

#[test]
fn ways_in_a_circle_end() {
    let none = "{:com.wsscode.pathom3.error/error-message
        \"Error while processing request [:b :d] for entity {:a 3}\"
        :com.wsscode.pathom3.error/error-data {:entity {:a 3} :tx [:b :d]}}";
    check("{:pathom/entity {:a 3} :pathom/eql [:b :d]}", Viewer::Nobody, none, &["near", "c"]);
    check("{:pathom/entity {:d 4} :pathom/eql [:b]}", Viewer::Nobody, "{:b 4}", &["back"]);
}

/// What a viewer may not see still leads to what it may, and to it does not exist.
#[test]
fn hidden_stops_lead_on() {
    check("{:pathom/entity {:a 1} :pathom/eql [:e *]}", Viewer::Nobody, "{:e 1 :a 1}", &["s", "e"]);
    let absent = |name: &str| {
        format!("{{:com.wsscode.pathom3.connect.runner/attribute-errors
            {{:{name} {{:com.wsscode.pathom3.error/cause :com.wsscode.pathom3.error/attribute-unreachable}}}} :e 1}}")
    };
    for name in ["secret", "absent"] {
        let request =
            format!("{{:pathom/entity {{:a 1}} :pathom/eql [:e :{name}] :pathom/lenient-mode? true}}");
        check(&request, Viewer::Session, &absent(name), &["s", "e"]);
    }
}
