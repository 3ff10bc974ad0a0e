//! One skill of a configuration: name and description are needed, the rest has defaults.

use super::error::ConfigError;
use super::node::{Node, flag, text};
use crate::domain::{Skill, SkillSource};

pub(super) fn skill(node: &Node<'_>) -> Result<Skill, ConfigError> {
    let entries = node.entries(&KEYS)?;
    let source = entries.optional("source", |node| node.choice(SkillSource::ALL, SkillSource::name))?;
    Ok(Skill {
        name: entries.required("name", text)?,
        description: entries.required("description", text)?,
        file_path: entries.optional("file-path", text)?.unwrap_or_default(),
        base_dir: entries.optional("base-dir", text)?.unwrap_or_default(),
        source: source.unwrap_or(SkillSource::Path),
        disable_model_invocation: entries.optional("disable-model-invocation", flag)?.unwrap_or(false),
        lambda_description: entries.optional("lambda-description", text)?,
    })
}

const KEYS: [&str; 7] = [
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
