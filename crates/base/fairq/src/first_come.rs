//! First come, first served: the head packet that arrived first is served; the lowest queue wins a
//! tie. Queues that receive more packets are served more often.

use crate::{Arbiter, Ready};

/// Arbiter that serves the earliest arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstComeFirstServed;

impl Arbiter for FirstComeFirstServed {
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        ready.queues().min_by_key(|queue| ready.head(*queue).arrival_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    #[test]
    fn earliest_arrival_is_served_first() {
        let heads = [30, 10, 20, 10].map(|arrival_ps| Head { length_bytes: 1, arrival_ps });
        let serve = |eligible| FirstComeFirstServed.serve(&Ready::new(&[eligible], &heads));
        assert_eq!([serve(0b1111), serve(0b1101), serve(0b0101)], [Some(1), Some(3), Some(2)]);
        assert_eq!(serve(0), None);
    }
}
