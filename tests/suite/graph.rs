//! The scheduler's graph: its declarations are sound.

use reveille::domain::Durability;
use reveille::graph::attr;
use reveille::graph::registry::RegistryFault;

#[test]
fn every_declaration_is_sound() {
    let faults: Vec<RegistryFault> = attr::registry().err().unwrap_or_default();
    assert_eq!(faults, []);
}

#[test]
fn each_kind_of_durability_is_explained() {
    let registry = attr::registry().expect("it is sound");
    let doc =
        registry.described().find(|(it, _)| it.ident == "psi.scheduler/durability").map(|(it, _)| it.doc);
    let doc = doc.expect("it is an attribute").to_lowercase();
    for name in Durability::NAMES {
        assert!(doc.contains(name), "{name}: {doc}");
    }
}
