//! Where each key of a text stands, for whoever reads a file of another kind than ours.
//!
//! ```text
//! [[axis]]              axis        1
//! key = "seed"          axis 0      1
//!                       axis 0 key  2
//! ```

use crate::{Data, Tree, Value};

impl Tree {
    /// The line of each key and of each entry of a list, by the steps that lead there.
    pub fn lines(&self) -> Vec<(Vec<String>, u32)> {
        let mut found = Vec::new();
        gather(&self.root, &mut Vec::new(), &mut found);
        found
    }
}

fn gather(value: &Value, steps: &mut Vec<String>, found: &mut Vec<(Vec<String>, u32)>) {
    let mut visit = |step: String, line: Option<u32>, child: &Value| {
        steps.push(step);
        found.extend(line.map(|line| (steps.clone(), line)));
        gather(child, steps, found);
        steps.pop();
    };
    match &value.data {
        Data::Table(table) => {
            for entry in &table.entries {
                visit(entry.name.clone(), entry.origin.line, &entry.value);
            }
        }
        Data::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(index.to_string(), item.origin.line, item);
            }
        }
        Data::String(_) | Data::Integer(_) | Data::Float(_) | Data::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn keys_and_entries_of_lists_have_their_lines() {
        let text = "seed = 1\n[set]\n\"stop.time\" = \"1 ms\"\n[[axis]]\nvalues = [\n  1,\n  2,\n]\n\n[[axis]]\n";
        let lines = Tree::parse("text", text).expect("it is TOML").lines();
        let shown: Vec<_> =
            lines.iter().map(|(steps, line)| format!("{} {line}", steps.join("/"))).collect();
        assert_eq!(
            shown,
            [
                "seed 1",
                "set 2",
                "set/stop.time 3",
                "axis 4",
                "axis/0 4",
                "axis/0/values 5",
                "axis/0/values/0 6",
                "axis/0/values/1 7",
                "axis/1 10",
            ]
        );
    }
}
