//! An end of the pipe, and a cache of its steps.
//!
//! A step of an end depends only on its state, the time and its input, and the whole has many more
//! states than an end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;

use crate::fingerprint;

/// The cache is cleared when full.
const STEPS_MAX: usize = 30_000;

/// Next state, its fingerprint, and the output of the step.
type Step<T, O> = (Rc<T>, u128, Rc<O>);

#[derive(Debug)]
pub(crate) struct Memory<T, O>(RefCell<BTreeMap<u128, Step<T, O>>>);

impl<T, O> Default for Memory<T, O> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct End<T> {
    pub(crate) state: Rc<T>,
    print: Option<u128>,
}

impl<T: Clone + Debug> End<T> {
    pub(crate) fn new(state: T) -> Self {
        Self { state: Rc::new(state), print: None }
    }

    pub(crate) fn print(&mut self) -> u128 {
        *self.print.get_or_insert_with(|| fingerprint::of(&self.state))
    }

    /// `input` is a fingerprint.
    pub(crate) fn step<O>(
        &mut self,
        memory: &Memory<T, O>,
        input: u128,
        act: impl FnOnce(&mut T) -> O,
    ) -> Rc<O> {
        let key = fingerprint::hash(&(self.print(), input));
        let known = memory.0.borrow().get(&key).cloned();
        let (state, print, outcome) = known.unwrap_or_else(|| {
            let mut state = self.state.as_ref().clone();
            let outcome = Rc::new(act(&mut state));
            let print = fingerprint::of(&state);
            let step = (Rc::new(state), print, outcome);
            let mut steps = memory.0.borrow_mut();
            if steps.len() == STEPS_MAX {
                steps.clear();
            }
            steps.insert(key, step.clone());
            step
        });
        (self.state, self.print) = (state, Some(print));
        outcome
    }

    pub(crate) fn act<O>(&mut self, act: impl FnOnce(&mut T) -> O) -> Rc<O> {
        self.print = None;
        Rc::new(act(Rc::make_mut(&mut self.state)))
    }
}
