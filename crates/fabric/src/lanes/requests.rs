//! Requests of heads for virtual channels: which input lanes request which output.

use crate::bits::members;
use crate::lanes::layout::SHIFT;
use crate::lanes::switches::SwitchPort;
use gingham_model::{PipelinePlan, Plan};

/// Which heads request what.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    /// By output port: where the words of those that request it begin; input lanes by their number
    /// in the switch.
    base: Vec<u32>,
    words: Vec<u64>,
    /// By input lane: the lanes that its head may take.
    lanes: Vec<u16>,
    /// By input lane: the level of its head.
    levels: Vec<u8>,
    level_count: usize,
    /// By output port and level: the input lane after the last winner.
    pointers: Vec<u16>,
    /// By output port: lanes after the last that was granted.
    pub(crate) lane_pointers: Vec<u16>,
}

impl Requests {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: &[SwitchPort]) -> Self {
        let level_count = lanes.arbitration.level(plan.highest_priority()) + 1;
        let mut base = Vec::with_capacity(ports.len());
        let mut count = 0;
        for port in ports {
            base.push(u32::try_from(count).expect("words of a switch are few"));
            count += (usize::from(port.span) << SHIFT).div_ceil(64);
        }
        Self {
            base,
            words: vec![0; count],
            lanes: vec![0; ports.len() << SHIFT],
            levels: vec![0; ports.len() << SHIFT],
            level_count,
            pointers: vec![0; ports.len() * level_count],
            lane_pointers: vec![u16::MAX; ports.len()],
        }
    }

    /// Whether anybody requests a port.
    #[inline]
    pub(crate) fn any(&self, port: usize) -> bool {
        self.words_of(port).iter().any(|word| *word != 0)
    }

    #[inline]
    fn words_of(&self, port: usize) -> &[u64] {
        let end = self.base.get(port + 1).map_or(self.words.len(), |end| *end as usize);
        &self.words[self.base[port] as usize..end]
    }

    /// The input lanes that request a port, by their number in the switch.
    pub(crate) fn of_port(&self, port: usize) -> impl Iterator<Item = usize> {
        let words = self.words_of(port).iter().enumerate();
        words.flat_map(|(number, word)| members(*word).map(move |bit| number * 64 + bit))
    }

    /// The lanes that the head of an input lane may take.
    #[inline]
    pub(crate) fn lanes_of(&self, lane: usize) -> u16 {
        self.lanes[lane]
    }

    /// The head of an input lane, which has this number in its switch, requests one of these lanes
    /// of a port.
    pub(crate) fn insert(
        &mut self,
        port: usize,
        input: usize,
        lane: usize,
        lanes: u16,
        level: usize,
    ) {
        self.levels[lane] = u8::try_from(level).expect("levels are few");
        self.lanes[lane] = lanes;
        self.words[self.base[port] as usize + input / 64] |= 1 << (input % 64);
    }

    /// A request for a port is granted; of the others of its level, those after it come first.
    pub(crate) fn grant(&mut self, port: usize, input: usize, switch: &SwitchPort) {
        let level = self.levels[switch.base as usize + input];
        let lanes = usize::from(switch.span) << SHIFT;
        let next = if input + 1 == lanes { 0 } else { input + 1 };
        self.pointers[port * self.level_count + usize::from(level)] =
            u16::try_from(next).expect("lanes of a switch have 16 bits");
        self.words[self.base[port] as usize + input / 64] &= !(1 << (input % 64));
    }

    /// Of the input lanes that request a port and could be granted a lane, the one that is served,
    /// by its number in the switch, and what it could be granted, which is not nothing: the first,
    /// round robin, of those of the highest level. Lanes of the switch are counted from `base` on.
    #[inline]
    pub(crate) fn winner(
        &self,
        port: usize,
        base: usize,
        grantable: impl Fn(usize) -> u16,
    ) -> Option<(usize, u16)> {
        let level = match self.level_count {
            1 => 0,
            _ => self.highest_level(port, base, &grantable)?,
        };
        let pointer = self.pointers[port * self.level_count + usize::from(level)];
        self.search(port, pointer.into(), |input| {
            let lanes = if self.levels[base + input] == level { grantable(input) } else { 0 };
            (lanes != 0).then_some((input, lanes))
        })
    }

    /// The highest level of the input lanes that request a port and could be granted a lane.
    #[inline(never)]
    fn highest_level(
        &self,
        port: usize,
        base: usize,
        grantable: &impl Fn(usize) -> u16,
    ) -> Option<u8> {
        let mut highest = None;
        self.search(port, 0, |input| {
            if grantable(input) != 0 {
                highest = highest.max(Some(self.levels[base + input]));
            }
            None::<()>
        });
        highest
    }

    /// What is found first in the input lanes that request a port, by their number in the switch,
    /// round robin from `first` on.
    #[inline]
    fn search<T>(
        &self,
        port: usize,
        first: usize,
        mut found: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let words = self.words_of(port);
        // The word in which the pointer lies comes first with what is from there on, and last with
        // the rest.
        let (at, onward) = (first / 64, u64::MAX << (first % 64));
        let (mut number, mut mask) = (at, onward);
        for _ in 0..=words.len() {
            let mut bits = words[number] & mask;
            while bits != 0 {
                let thing = found(number * 64 + bits.trailing_zeros() as usize);
                if thing.is_some() {
                    return thing;
                }
                bits &= bits - 1;
            }
            number = if number + 1 == words.len() { 0 } else { number + 1 };
            mask = if number == at { !onward } else { u64::MAX };
        }
        None
    }
}
