//! Shrinking of a failing scenario.

use crate::case::Case;
use gingham_lab::compile;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use std::path::Path;

impl Case {
    pub(crate) fn shrunk(
        &self,
        found: String,
        fails: impl Fn(&Self) -> Option<String>,
    ) -> (Self, String) {
        let mut best = (self.clone(), found);
        loop {
            let smaller = best.0.smaller().into_iter().find_map(|case| {
                let valid = ScenarioSource::parse(
                    "case.toml",
                    &case.to_toml(),
                    Path::new("."),
                    &Overrides::default(),
                );
                let valid = valid.is_ok_and(|source| compile(&source, true).is_ok());
                let found = if valid { fails(&case) } else { None };
                found.map(|found| (case, found))
            });
            match smaller {
                Some(case) => best = case,
                None => return best,
            }
        }
    }

    fn smaller(&self) -> Vec<Self> {
        let mut cases = Vec::new();
        let mut time = self.time_ps;
        while time > 1_000 {
            time = time * 3 / 4;
            let warm_up_ps = self.warm_up_ps.map(|warm_up| warm_up.min(time / 4));
            cases.push(Self { time_ps: time, warm_up_ps, ..self.clone() });
        }
        cases.reverse();
        for index in 0..self.classes.len() {
            let mut case = self.clone();
            case.classes.remove(index);
            cases.push(case);
        }
        for index in 0..self.rules.len() {
            let mut case = self.clone();
            case.rules.remove(index);
            cases.push(case);
        }
        for index in 0..self.network.len() {
            let mut case = self.clone();
            if !case.network.remove(index).starts_with("preset") {
                cases.push(case);
            }
        }
        for index in (0..self.nodes.len()).rev() {
            let mut case = self.clone();
            let (_, name) = case.nodes.remove(index);
            case.cables.retain(|(a, b, ..)| *a != name && *b != name);
            cases.push(case);
        }
        for index in (0..self.cables.len()).rev() {
            let mut case = self.clone();
            case.cables.remove(index);
            cases.push(case);
        }
        cases
    }
}
