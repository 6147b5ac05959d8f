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
    pub(crate) fn any(&self, port: usize) -> bool {
        self.words_of(port).iter().any(|word| *word != 0)
    }

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
        let next = (input + 1) % (usize::from(switch.span) << SHIFT);
        self.pointers[port * self.level_count + usize::from(level)] =
            u16::try_from(next).expect("lanes of a switch have 16 bits");
        self.words[self.base[port] as usize + input / 64] &= !(1 << (input % 64));
    }

    /// Of the input lanes that request a port and could be granted a lane, by their number in the
    /// switch, the one that is served: the first, round robin, of those of the highest level. Lanes
    /// of the switch are counted from `base` on.
    pub(crate) fn winner(
        &self,
        port: usize,
        base: usize,
        could: impl Fn(&usize) -> bool,
    ) -> Option<usize> {
        let level = match self.level_count {
            1 => 0,
            _ => self.of(port, 0).filter(&could).map(|input| self.levels[base + input]).max()?,
        };
        let pointer = self.pointers[port * self.level_count + usize::from(level)];
        let is_of_level = |input: &usize| self.levels[base + input] == level && could(input);
        self.of(port, pointer.into()).find(is_of_level)
    }

    /// The input lanes that request a port, by their number in the switch, round robin from `first`
    /// on.
    fn of(&self, port: usize, first: usize) -> impl Iterator<Item = usize> {
        let words = self.words_of(port);
        let (at, bit) = (first / 64, first % 64);
        let onward = u64::MAX << bit;
        // The word in which the pointer lies comes first with what is from there on, and last with
        // the rest.
        let word = move |place: usize| match place {
            0 => words.get(at).map_or(0, |word| word & onward),
            place if place == words.len() => words.get(at).map_or(0, |word| word & !onward),
            place => words[(at + place) % words.len()],
        };
        (0..=words.len()).flat_map(move |place| {
            let number = (at + place) % words.len();
            members(word(place)).map(move |bit| number * 64 + bit)
        })
    }
}
