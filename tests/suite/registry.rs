//! The registry's checks: every fault of a set of declarations is listed.

use crate::toy::{Tasks, builder};
use reveille::graph::page::WindowParams;
use reveille::graph::registry::{
    Attribute, Builder, Entity, Mutation, ParamGroups, Registry, RegistryFault, Type, Visibility,
};

#[track_caller]
fn check(builder: Builder<Tasks>, expected: &[RegistryFault]) {
    match builder.build() {
        Ok(_) => assert!(expected.is_empty(), "no fault found"),
        Err(faults) => assert_eq!(faults, expected),
    }
}

fn seed(ident: &'static str) -> Attribute {
    Attribute::new(ident, Type::String).doc("Given.").visible_to(Visibility::Everyone).seed()
}

fn mutation(output: &'static [&'static str]) -> Mutation<Tasks> {
    Mutation::<Tasks>::new("m/m", output, |params| Ok(params.clone()), |_, call| call.map(|_| true.into()))
        .doc("D.")
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
    check(twice, &[RegistryFault::Duplicate(":a/b".into()), RegistryFault::Duplicate("e".into())]);
    let mutation = || mutation(&[]).open_to(Visibility::Operator);
    check(
        with(seed("a/b")).mutation(mutation()).mutation(mutation()),
        &[RegistryFault::Duplicate("m/m".into())],
    );
    const GROUPS: ParamGroups = &[WindowParams::GROUP, WindowParams::GROUP];
    let names = ["after", "before", "first", "last"];
    let faults = names.map(|name| RegistryFault::Duplicate(format!("the parameter {name} of m/m")));
    check(with(seed("a/b")).mutation(mutation().params(GROUPS)), &faults);
}

#[test]
fn a_rule_says_who_may_see_it() {
    let silent = Attribute { visibility: None, doc: "", ..seed("a/b") };
    check(with(silent), &[RegistryFault::NoVisibility(":a/b".into()), RegistryFault::NoDoc(":a/b".into())]);
    check(with(seed("a/b")).mutation(mutation(&[])), &[RegistryFault::NoVisibility("m/m".into())]);
}

#[test]
fn nothing_dangles() {
    let answers = mutation(&["a/b", "no/out"]).open_to(Visibility::Operator);
    let undeclared = RegistryFault::UndeclaredAttribute { ident: ":no/out".into(), by: "m/m".into() };
    check(with(seed("a/b")).mutation(answers), &[undeclared]);
    let dangling = Attribute { kind: Type::Reference("none"), ..seed("a/b") };
    let fault = RegistryFault::DanglingReference { ident: ":a/b".into(), entity: "none".into() };
    check(with(dangling), &[fault]);
    let orphan = Attribute { is_seed: false, ..seed("a/b") };
    check(with(orphan), &[RegistryFault::Unprovided(":a/b".into())]);
}

#[test]
fn names_and_values_are_checked() {
    check(
        with(Attribute { kind: Type::Enum(&[]), ..seed("a/b") }),
        &[RegistryFault::EnumValues(":a/b".into())],
    );
    check(with(seed("a b")), &[RegistryFault::Name("a b".into())]);
}
