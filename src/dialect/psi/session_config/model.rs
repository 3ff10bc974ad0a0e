//! Parses the model of a configuration.

use super::text::text;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::Model;

pub(super) fn model(arg: Arg<'_>) -> Result<Model, ArgError> {
    let args = arg.map(&KEYS)?;
    Ok(Model {
        provider: args.or_nil("provider", text)?,
        id: args.or_nil("id", text)?,
        reasoning: args.flag("reasoning")?.unwrap_or(false),
    })
}

pub(super) const KEYS: [&str; 3] = ["provider", "id", "reasoning"];

#[cfg(test)]
mod tests {
    use crate::dialect::psi::testing::{check_config as check, check_config_refused as check_refused};

    #[test]
    fn a_model_has_provider_and_id() {
        let full = r#":model {:provider "p" :id "m" :reasoning true}"#;
        check(full, full);
        check(r#":model {:provider "p" :id "m"}"#, r#":model {:provider "p" :id "m" :reasoning false}"#);
        check_refused(r#":model "m""#, "model must be a map", r#":field :model :value "m""#);
        check_refused(
            r#":model {:id "m"}"#,
            "model.provider must be a string, not nil",
            ":field :model :value nil",
        );
        let data = ":field :model :value 1";
        check_refused(r#":model {:id "m" :provider "p" :reasoning 1}"#, "model.reasoning must be true", data);
        let data = ":field :model :unsupported-keys [:name]";
        check_refused(r#":model {:id "m" :provider "p" :name 1}"#, "model has unsupported keys: :name", data);
    }
}
