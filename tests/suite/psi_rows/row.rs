//! A row of the tables: read, played step by step, and a failure that says row, step, expected and actual.

use reveille::domain::Moment;
use reveille::edn::{Caps, Map, Value, read_all};

use super::pattern::Bindings;
use super::play::{Args, verb};
use super::scene::Scene;

/// One row.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) steps: Vec<Value>,
    start: Option<Moment>,
}

const CAPS: Caps = Caps { bytes_max: 1 << 20, depth_max: 64, digits_max: 64, forms_max: 100_000 };

/// Every row of a table.
pub(crate) fn rows(table: &str, text: &str) -> Vec<Row> {
    let forms = read_all(text.as_bytes(), &CAPS).unwrap_or_else(|error| {
        assert!(text.is_empty(), "{table}: {error}");
        Vec::new()
    });
    forms.iter().map(|form| row(form.as_map().expect("a row is a map"))).collect()
}

fn row(map: &Map) -> Row {
    let text = |key: &str| map.keyword(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("row").expect("a row has a name");
    let known = [":row", ":source", ":says", ":start", ":steps"];
    let stranger = map.keys().find(|key| !known.contains(&key.to_string().as_str()));
    assert_eq!(stranger, None, "{name}: a key that means nothing");
    assert!(text("says").is_some(), "{name}: a row says what it shows");
    let steps = map.keyword("steps").and_then(Value::as_items).expect("a row has steps").to_vec();
    assert!(!steps.is_empty(), "{name}: a row without steps says nothing");
    let start = text("start").map(|start| Moment::parse(&start).expect("the start is an instant"));
    Row { name, source: text("source").expect("a row has a source"), steps, start }
}

impl Row {
    /// Plays the row; the error names the step.
    pub(crate) fn play(&self) -> Result<(), String> {
        let mut scene = Scene::new(self.start);
        let mut bindings = Bindings::default();
        for (place, step) in self.steps.iter().enumerate() {
            self.step(step, &mut scene, &mut bindings)
                .and_then(|()| scene.judge())
                .map_err(|fault| format!("{}, step {}: {step}\n{fault}", self.name, place + 1))?;
        }
        scene.judge_all().map_err(|fault| format!("{}, at the end\n{fault}", self.name))
    }

    fn step(&self, step: &Value, scene: &mut Scene, bindings: &mut Bindings) -> Result<(), String> {
        let items = step.as_items().filter(|items| !items.is_empty()).ok_or("a step is a vector")?;
        let name = items[0].as_keyword().ok_or("a step begins with a keyword")?.as_str();
        if name == "repeat" {
            return self.repeat(&items[1..], scene, bindings);
        }
        if name == "restart" {
            *scene = Scene::new(self.start);
            return Ok(());
        }
        let arrow = items.iter().position(|item| is_symbol(item, "=>") || is_symbol(item, "=!"));
        let given = &items[1..arrow.unwrap_or(items.len())];
        let given = given.iter().map(|item| bindings.fill(item)).collect::<Result<Vec<_>, _>>()?;
        let outcome = verb(name).ok_or("no such step")?(scene, &Args(given))?;
        let (expects_refusal, pattern) = match arrow {
            None => (false, None),
            Some(arrow) => {
                (is_symbol(&items[arrow], "=!"), Some(items.get(arrow + 1).ok_or("nothing expected")?))
            }
        };
        let actual = match outcome {
            Ok(done) if !expects_refusal => done,
            Err(refused) if expects_refusal => refused,
            Ok(done) => return Err(format!("  expected a refusal\n  actual   {done}")),
            Err(refused) => return Err(format!("  expected no refusal\n  actual   {refused}")),
        };
        pattern.map_or(Ok(()), |pattern| bindings.compare(pattern, &actual, ""))
    }

    /// Plays steps so many times; what they bind is forgotten after each time.
    fn repeat(&self, args: &[Value], scene: &mut Scene, bindings: &Bindings) -> Result<(), String> {
        let (times, steps) = args.split_first().ok_or("how many times?")?;
        for _ in 0..times.as_int().ok_or("how many times?")? {
            let mut inner = bindings.clone();
            for step in steps {
                self.step(step, scene, &mut inner)?;
                scene.judge()?;
            }
        }
        Ok(())
    }
}

fn is_symbol(value: &Value, name: &str) -> bool {
    value.as_symbol().is_some_and(|symbol| symbol.as_str() == name)
}
