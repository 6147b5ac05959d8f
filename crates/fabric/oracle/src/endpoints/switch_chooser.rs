//! Output selection under adaptive routing. Each choice is computed twice and compared
//! (`adaptive-routing.md`).

use super::differ::{Audited, Tally};
use gingham_kernel::{Counted, Purpose};
use gingham_net::{Decision, HeadPlace, Plan, Reselect, Select};
use gingham_topology::NodeId;

#[derive(Clone, Debug)]
pub(crate) struct SwitchChooser {
    machine: gingham_net::SwitchChooser,
    select: Select,
    reselect: Reselect,
    /// Random draws of each switch, seeded by the switch's stable name.
    draws: Vec<(NodeId, Counted)>,
    tally: Tally,
}

impl SwitchChooser {
    pub(crate) fn new(plan: &Plan, tally: &Tally) -> Option<Self> {
        let machine = gingham_net::SwitchChooser::new(plan);
        let Decision::AtSwitches(decision) = plan.routing.decision else {
            assert!(machine.is_none(), "audit: selection by adaptive routing");
            return None;
        };
        let draws = |switch: NodeId| {
            let name = plan.fabric.node(switch).stable_name();
            (switch, Counted::new(plan.seed, &name, Purpose::Output))
        };
        Some(Self {
            machine: machine?,
            select: decision.select,
            reselect: decision.reselect,
            draws: plan.fabric.switches().map(draws).collect(),
            tally: tally.clone(),
        })
    }

    pub(crate) fn is_for_good(&self) -> bool {
        let found = self.machine.is_for_good();
        assert_eq!(found, matches!(self.reselect, Reselect::Never), "audit: repeated selection");
        found
    }

    pub(crate) fn choose(&self, head: HeadPlace, tick: u64, credits: &[u64]) -> usize {
        let found = self.machine.choose(head, tick, credits);
        let expected = self.expected(head, tick, credits);
        assert_eq!(expected, found, "audit: output of {head:?} at tick {tick}, of {credits:?}");
        self.tally.count(Audited::Output);
        found
    }

    /// Returns the expected output, which depends on the rule: the first output, a random output,
    /// or a random output among the outputs with the most credits.
    fn expected(&self, head: HeadPlace, tick: u64, credits: &[u64]) -> usize {
        let most = credits.iter().fold(0, |most, of| *of.max(&most));
        let places = 0..credits.len();
        let among: Vec<usize> = match self.select {
            Select::First => return 0,
            Select::Random => places.collect(),
            Select::LeastLoaded => places.filter(|place| credits[*place] == most).collect(),
        };
        let of_switch = self.draws.iter().find(|(switch, _)| *switch == head.switch);
        let (_, draws) = of_switch.expect("a head is at a switch");
        let of_head = u64::from(head.port) * 256 + u64::from(head.lane);
        let place = draws.of(of_head).below(tick, among.len() as u64);
        among[usize::try_from(place).expect("outputs are few")]
    }
}
