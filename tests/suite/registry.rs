//! The registry's checks: every fault of a set of declarations is listed.

use crate::toy::{Tasks, builder};
use reveille::graph::registry::{
    Attribute, Builder, Entity, Fault, Mutation, Registry, Resolver, Type, Visibility,
};

#[track_caller]
fn check(builder: Builder<Tasks>, expected: &[Fault]) {
    match builder.build() {
        Ok(_) => assert!(expected.is_empty(), "no fault found"),
        Err(faults) => assert_eq!(faults, expected),
    }
}

fn seed(ident: &'static str) -> Attribute {
    Attribute::new(ident, Type::String).doc("Given.").visible_to(Visibility::Everyone).seed()
}

fn resolver(output: &'static str) -> Resolver<Tasks> {
    Resolver::<Tasks>::new("r/r", output, |_, _, _| Ok(reveille::edn::Map::new()))
}

fn with(attribute: Attribute) -> Builder<Tasks> {
    Registry::builder().entity(Entity::root("e").doc("One.").attribute(attribute))
}

#[test]
fn the_toy_world_is_sound() {
    check(builder(), &[]);
}

#[test]
fn names_are_declared_once() {
    let twice = with(seed("a/b")).entity(Entity::root("e").doc("Again.").attribute(seed("a/b")));
    check(twice, &[Fault::Duplicate(":a/b".into()), Fault::Duplicate("e".into())]);
    let twice = with(seed("a/b")).resolver(resolver("[]")).resolver(resolver("[]"));
    check(twice, &[Fault::Duplicate("r/r".into())]);
    let mutation = || Mutation::<Tasks>::new("m/m", "[]", |_, _| Ok(true.into())).doc("D.");
    let mutation = || mutation().open_to(Visibility::Operator);
    check(with(seed("a/b")).mutation(mutation()).mutation(mutation()), &[Fault::Duplicate("m/m".into())]);
}

#[test]
fn a_rule_says_who_may_see_it() {
    let silent = Attribute { visibility: None, doc: "", ..seed("a/b") };
    check(with(silent), &[Fault::NoVisibility(":a/b".into()), Fault::NoDoc(":a/b".into())]);
    let mutation = Mutation::<Tasks>::new("m/m", "[]", |_, _| Ok(true.into())).doc("D.");
    check(with(seed("a/b")).mutation(mutation), &[Fault::NoVisibility("m/m".into())]);
}

#[test]
fn nothing_dangles() {
    let undeclared = |ident: &str| Fault::UndeclaredAttribute { ident: ident.into(), by: "r/r".into() };
    let shapes = resolver("[:a/b {:a/b [:no/out]}]").input("[:no/in]");
    check(with(seed("a/b")).resolver(shapes), &[undeclared(":no/in"), undeclared(":no/out")]);
    let dangling = Attribute { kind: Type::Reference("none"), ..seed("a/b") };
    let fault = Fault::DanglingReference { ident: ":a/b".into(), entity: "none".into() };
    check(with(dangling), &[fault]);
    let orphan = Attribute { is_seed: false, ..seed("a/b") };
    let both = with(orphan).entity(Entity::root("f").doc("F.").attribute(seed("c/d")));
    let faults = [
        Fault::UnobtainableInput { ident: ":a/b".into(), by: "r/r".into() },
        Fault::Unprovided(":a/b".into()),
    ];
    check(both.resolver(resolver("[:c/d]").input("[:a/b]")), &faults);
}

#[test]
fn shapes_and_names_are_checked() {
    let wrong = with(seed("a/b")).resolver(resolver("[:a/b *]").input("[7"));
    match wrong.build() {
        Ok(_) => panic!("no fault found"),
        Err(faults) => {
            assert_eq!(faults.len(), 2, "{faults:?}");
            assert!(faults.iter().all(|fault| matches!(fault, Fault::Shape { by, .. } if by == "r/r")));
        }
    }
    check(with(Attribute { kind: Type::Enum(&[]), ..seed("a/b") }), &[Fault::EnumValues(":a/b".into())]);
    check(with(seed("a b")), &[Fault::Name("a b".into())]);
}
