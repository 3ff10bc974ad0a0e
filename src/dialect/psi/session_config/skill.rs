//! Parses one skill of a configuration. Name and description are required; the other fields have defaults.

use super::text::text;
use crate::dialect::args::{Arg, ArgError};
use crate::domain::{Skill, SkillSource};

pub(super) fn skill(arg: Arg<'_>) -> Result<Skill, ArgError> {
    let args = arg.map(&KEYS)?;
    let source = args.one_of("source", SkillSource::NAMES, SkillSource::ALL)?;
    Ok(Skill {
        name: args.or_nil("name", text)?,
        description: args.or_nil("description", text)?,
        file_path: args.opt("file-path", text)?.unwrap_or_default(),
        base_dir: args.opt("base-dir", text)?.unwrap_or_default(),
        source: source.unwrap_or(SkillSource::Path),
        disable_model_invocation: args.flag("disable-model-invocation")?.unwrap_or(false),
        lambda_description: args.opt("lambda-description", text)?,
    })
}

pub(super) const KEYS: [&str; 7] = [
    "name",
    "description",
    "file-path",
    "base-dir",
    "source",
    "disable-model-invocation",
    "lambda-description",
];

#[cfg(test)]
mod tests {
    use crate::dialect::psi::testing::{check_config as check, check_config_refused as check_refused};

    #[test]
    fn skills_are_maps() {
        check(
            r#":skills [{:name "n" :description "d"}]"#,
            r#":skills [{:name "n" :description "d" :file-path "" :base-dir ""
                          :source :path :disable-model-invocation false}]"#,
        );
        let full = r#":skills [{:name "n" :description "d" :file-path "f" :base-dir "b"
                       :source :user :disable-model-invocation true :lambda-description "l"}]"#;
        check(full, full);
        check_refused(":skills 5", "skills must be a vector, not 5", ":field :skills :value 5");
        check_refused(r#":skills ["n"]"#, "skills[0] must be a map", r#":field :skills :value "n""#);
        check_refused(
            r#":skills [{:name "n"}]"#,
            "skills[0].description must be",
            ":field :skills :value nil",
        );
        let wrong = r#":skills [{:name "n" :description "d" :source :web}]"#;
        check_refused(
            wrong,
            "skills[0].source must be one of :user :project :path",
            ":field :skills :value :web",
        );
    }
}
