//! Classes on lanes of one switch.

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Engine, Run, compile};
use std::fmt::Write as _;
use std::path::Path;

const ENGINES: [Engine; 2] = [Engine::Fast, Engine::Oracle];

pub(crate) struct Network {
    hosts: usize,
    lanes: String,
    classes: String,
}

impl Network {
    pub(crate) fn new(hosts: usize, lanes: &str) -> Self {
        Self { hosts, lanes: lanes.to_owned(), classes: String::new() }
    }

    /// Adds a backlogged class with messages of `flits` flits of 16 B.
    #[must_use]
    pub(crate) fn backlogged(self, from_to: (usize, usize), lane: usize, flits: usize) -> Self {
        self.class(from_to, lane, flits, "arrivals = \"backlogged\"")
    }

    #[must_use]
    pub(crate) fn class(
        mut self,
        (from, to): (usize, usize),
        lane: usize,
        flits: usize,
        arrivals: &str,
    ) -> Self {
        writeln!(
            self.classes,
            "[[traffic]]\nname = \"lane {lane}\"\nhosts = [\"h{from}\"]\ndestinations = {{ host = \"h{to}\" }}\n\
             lanes = [{lane}]\nlength = {{ fixed = \"{} B\" }}\n{arrivals}\n",
            16 * flits
        )
        .unwrap();
        self
    }

    /// Returns the delivered payload by class, as a fraction of the link, on each engine.
    pub(crate) fn rates(&self) -> Vec<Vec<f64>> {
        let text = format!(
            "[topology.generate.star]\nhosts = {}\n\n[network]\npreset = \"yum-1600\"\n\n[network.lanes]\n{}\n\n{}\n\
             [stop]\ntime = \"8 ms\"\nwarm_up = \"400 us\"\n",
            self.hosts, self.lanes, self.classes
        );
        let none = Overrides::default();
        let source = ScenarioSource::parse("star.toml", &text, Path::new("."), &none);
        let source = source.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let of = |engine| {
            let compiled =
                compile(&source, false).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut run = Run::new(compiled, engine);
            while !run.advance(1_000_000).expect("time goes on").done {}
            let classes = run.record().classes;
            classes.iter().map(|class| class.accepted_bytes_per_s / 200e6).collect()
        };
        ENGINES.into_iter().map(of).collect()
    }

    /// Asserts the shares of the delivered payload, each within 1 %.
    pub(crate) fn assert_shares(&self, expected: &[f64]) {
        for rates in self.rates() {
            let (all, expected_all): (f64, f64) = (rates.iter().sum(), expected.iter().sum());
            for (rate, expected) in rates.iter().zip(expected) {
                let (share, expected) = (rate / all, expected / expected_all);
                let is_near = (share / expected - 1.0).abs() < 0.01;
                assert!(is_near, "{share}, not {expected}, of {rates:?}: {}", self.lanes);
            }
        }
    }

    /// Asserts the rates, each to 1 % of the link.
    pub(crate) fn assert_rates(&self, expected: &[f64]) {
        for rates in self.rates() {
            let near = |(rate, expected): (&f64, &f64)| (rate - expected).abs() < 0.01;
            assert!(
                rates.iter().zip(expected).all(near),
                "{rates:?}, not {expected:?}: {}",
                self.lanes
            );
        }
    }
}
