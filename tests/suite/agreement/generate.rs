//! Queries out of a seed: trees of attributes and joins over the registry, with parameters, idents and nonsense.

use reveille::graph::registry::{Attribute, EntityInfo, Registry, Type, World};

/// Draws queries.
pub(crate) struct Generator(u64);

impl Generator {
    pub(crate) fn new(seed: u64) -> Generator {
        Generator(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound.max(1) as u64).expect("below a bound")
    }

    /// A query of the root.
    pub(crate) fn query<W: World>(&mut self, registry: &Registry<W>) -> String {
        let roots: Vec<&str> =
            registry.entities().iter().filter(|entity| entity.key.is_none()).map(|it| it.name).collect();
        let mut parts: Vec<String> = Vec::new();
        for _ in 0..=self.below(3) {
            let root = roots[self.below(roots.len())];
            parts.extend(self.pick(registry, root, 0));
        }
        if self.below(12) == 0 {
            parts.push(":no/such".to_owned());
        }
        if self.below(6) == 0 {
            let below = self.entity(registry, "session", 2);
            parts.push(format!("{{[:psi.agent-session/session-id \"session-a\"] [{below}]}}"));
        }
        format!("[{}]", parts.join(" "))
    }

    fn entity<W: World>(&mut self, registry: &Registry<W>, entity: &str, depth: usize) -> String {
        let mut parts = Vec::new();
        for _ in 0..=self.below(5) {
            parts.extend(self.pick(registry, entity, depth));
        }
        if self.below(25) == 0 {
            parts.push("*".to_owned());
        }
        parts.join(" ")
    }

    fn pick<W: World>(&mut self, registry: &Registry<W>, entity: &str, depth: usize) -> Option<String> {
        let mine: Vec<&Attribute> =
            registry.described().filter(|(_, it)| is(it, entity)).map(|(it, _)| it).collect();
        // The graph's own index is as long as everything else together.
        let wanted: Vec<&Attribute> = mine.into_iter().filter(|it| !is_long(it.ident)).collect();
        let attribute = *wanted.get(self.below(wanted.len()))?;
        let ident = format!(":{}", attribute.ident);
        let params = ["{:first 2}", "{:status :pending}", "{:last 1}", "{:nonsense 1}"];
        let takes = matches!(attribute.ident, "psi.scheduler/schedules" | "psi.agent-session/schedules");
        let ident =
            if takes && self.below(3) == 0 { format!("({ident} {})", params[self.below(4)]) } else { ident };
        if let Type::Reference(to) = attribute.kind
            && depth < 3
            && self.below(8) > 0
        {
            let below = self.entity(registry, to, depth + 1);
            return Some(format!("{{{ident} [{below}]}}"));
        }
        Some(ident)
    }
}

fn is(entity: &EntityInfo, name: &str) -> bool {
    entity.name == name
}

fn is_long(ident: &str) -> bool {
    ident.starts_with("com.") || ident.starts_with("psi.graph/")
}
