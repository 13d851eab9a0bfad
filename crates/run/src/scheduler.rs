//! Which garment gets which tier within a budget of time.
//!
//! There is no clock here: what things cost is what the caller says they cost, and corrects with what it measured. Every
//! garment begins at its cheapest; then the climb that is worth most for what it costs is taken, again and again, while the
//! budget lasts. What a garment already has counts for more than what it could have, so that nothing flickers.

use crate::{Error, Result};
use std::collections::BinaryHeap;

/// One way to have a garment: a tier, with so many dims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// Any number that the caller knows its tiers by.
    pub tier: u32,
    /// How many dims of a learned garment are drawn; 0 where that means nothing.
    pub dims: u32,
    /// What one garment costs in a frame, µs.
    pub cost_us: f32,
    /// What it costs once to take over, µs.
    pub start_us: f32,
    /// How good it is, from 0 (nothing) to 1 (the truth).
    pub quality: f32,
    /// Whether it is worth only as much as the learned garment trusts itself.
    pub learned: bool,
}

/// What is known of one garment in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Which list of rungs it has.
    pub kind: usize,
    /// How much it matters, see [`priority`].
    pub priority: f32,
    /// How far its learned garment trusts itself, 0 to 1: the gate of a model D, or less than 1 where inputs are clamped.
    pub trust: f32,
    /// How deep its cloth is in the body, mm: the deeper, the more a climb is worth.
    pub inside_mm: f32,
}

/// How much a garment matters: the share of the screen's height it takes, weighted by importance. `pixel_m` is the size of a
/// pixel seen from one metre, m, of a screen of 1,080 rows.
pub fn priority(distance_m: f32, height_m: f32, pixel_m: f32, importance: f32) -> f32 {
    let rows = height_m / (distance_m.max(0.1) * pixel_m.max(1e-6));
    importance.max(0.0) * (rows / 1080.0).clamp(0.0, 2.0)
}

/// How a scheduler decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchedulerSettings {
    /// What all garments together may cost in a frame, µs.
    pub budget_us: f32,
    /// Share of it that is planned with: what is left is for what no plan foresees.
    pub planned: f32,
    /// Seconds for which a garment keeps a rung it has come to, unless the budget is short.
    pub hold_secs: f32,
    /// How many times as much a rung is worth to whom has it.
    pub keeps: f32,
    /// Hand-overs that begin in a frame at most, of those that cost something to begin.
    pub moves: usize,
}

impl Default for SchedulerSettings {
    fn default() -> Self {
        Self { budget_us: 16_600.0, planned: 0.8, hold_secs: 0.5, keeps: 1.3, moves: 8 }
    }
}

/// What a plan came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Planned {
    /// What the frame should cost, µs.
    pub cost_us: f32,
    /// Garments that change their rung in this frame.
    pub changed: usize,
    /// What all garments at their cheapest cost beyond the budget, µs; 0 where it is kept. All of them are at their cheapest
    /// then.
    pub lacks_us: f32,
}

#[derive(Clone, Copy)]
struct Member {
    rung: u16,
    wanted: u16,
    /// Since its last change.
    secs: f32,
    known: bool,
    /// Whether its rung is a large part of the budget.
    large: bool,
}

/// Decides frame by frame. After the first frame of so many garments nothing is allocated.
pub struct Scheduler {
    settings: SchedulerSettings,
    kinds: Vec<Vec<Rung>>,
    members: Vec<Member>,
    heap: BinaryHeap<Climb>,
    order: Vec<(f32, u32)>,
    /// Measured over planned cost, and how much more that is for rungs that are a large part of the budget: what they cost
    /// varies from frame to frame, and one of them too many is what breaks a budget.
    scale: f32,
    heavy: f32,
    /// The scale that plans are made with: it follows in steps, or everyone whose rungs cost nearly the same would go up and
    /// down with every breath of the machine.
    used: f32,
    planned_us: f32,
}

/// By how much the measured scale may be above and below the used one.
const DEAD_BAND: [f32; 2] = [1.06, 0.8];

/// Share of the budget that a large rung costs.
const LARGE: f32 = 0.05;

/// A climb by one rung; the heap gives the one that is worth most for its cost.
#[derive(Clone, Copy, PartialEq)]
struct Climb {
    worth: f32,
    member: u32,
    from: u16,
    to: u16,
}

impl Eq for Climb {}

impl Ord for Climb {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.worth.total_cmp(&other.worth).then(other.member.cmp(&self.member))
    }
}

impl PartialOrd for Climb {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Scheduler {
    /// A scheduler for kinds of garments, each with its rungs, cheapest first.
    pub fn new(settings: SchedulerSettings, kinds: Vec<Vec<Rung>>) -> Result<Self> {
        let range = |what: &'static str, value: f32| Err(Error::Range { what, value: value.into() });
        if !(settings.budget_us > 0.0 && settings.budget_us.is_finite()) {
            return range("the budget", settings.budget_us);
        }
        for rungs in &kinds {
            let Some(cheapest) = rungs.first() else { return range("the number of rungs", 0.0) };
            let mut before = cheapest.cost_us;
            for rung in rungs {
                if !(rung.cost_us >= before && rung.cost_us.is_finite()) {
                    return range("a rung's cost, which must not be less than the one below,", rung.cost_us);
                }
                before = rung.cost_us;
            }
        }
        Ok(Self {
            settings,
            kinds,
            members: Vec::new(),
            heap: BinaryHeap::new(),
            order: Vec::new(),
            scale: 1.0,
            heavy: 1.0,
            used: 1.0,
            planned_us: 0.0,
        })
    }

    /// The budget of the next frames, µs.
    pub fn set_budget(&mut self, budget_us: f32) {
        self.settings.budget_us = budget_us.max(0.0);
    }

    /// The rungs of a kind.
    pub fn rungs(&self, kind: usize) -> &[Rung] {
        &self.kinds[kind]
    }

    /// What a rung costs, as it was measured since, µs.
    pub fn set_cost(&mut self, kind: usize, rung: usize, cost_us: f32) {
        if !(cost_us.is_finite() && cost_us >= 0.0) {
            return;
        }
        if let Some(rung) = self.kinds.get_mut(kind).and_then(|rungs| rungs.get_mut(rung)) {
            rung.cost_us = cost_us;
        }
        // A rung is not cheaper than the one below.
        for rungs in &mut self.kinds {
            for k in 1..rungs.len() {
                rungs[k].cost_us = rungs[k].cost_us.max(rungs[k - 1].cost_us);
            }
        }
    }

    /// What the last frame really cost, µs, by the caller's clock. A frame that took longer than planned is believed at
    /// once, one that took less little by little.
    pub fn measured(&mut self, frame_us: f32) {
        if self.planned_us <= 0.0 || !(frame_us >= 0.0 && frame_us.is_finite()) {
            return;
        }
        let large = self.members.iter().any(|m| m.large);
        self.heavy = (self.heavy * 0.998).max(1.0);
        if large && frame_us > 1.15 * self.planned_us {
            // The many are not made to pay for the few.
            self.heavy = (self.heavy * 1.2).min(8.0);
            return;
        }
        // One frame is never believed much: the machine does other things, too.
        let real = self.used * frame_us / self.planned_us;
        let ratio = real.clamp(0.7 * self.scale, 1.4 * self.scale);
        let believed = if ratio > self.scale { 0.2 } else { 0.03 };
        self.scale = (self.scale + believed * (ratio - self.scale)).clamp(0.25, 8.0);
        let [above, below] = DEAD_BAND;
        if self.scale > above * self.used || self.scale < below * self.used {
            self.used = self.scale;
        }
    }

    /// Measured over given costs, as far as it is believed.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The rung of a garment.
    pub fn rung(&self, member: usize) -> usize {
        self.members.get(member).map_or(0, |m| m.rung.into())
    }

    /// A hand-over was refused: the garment stays at a rung for a while.
    pub fn refused(&mut self, member: usize, stays_at: usize) {
        if let Some(member) = self.members.get_mut(member) {
            (member.rung, member.secs) = (stays_at as u16, 0.0);
        }
    }

    /// Decides for the garments there are, `dt_secs` after the last time.
    pub fn plan(&mut self, wishes: &[Wish], dt_secs: f32) -> Planned {
        let fresh = Member { rung: 0, wanted: 0, secs: f32::INFINITY, known: false, large: false };
        self.members.resize(wishes.len(), fresh);
        self.members.iter_mut().for_each(|m| m.secs += dt_secs);
        let room = self.settings.budget_us * self.settings.planned;
        let lacks_us = self.want(wishes, room);
        let changed = self.change(wishes, room);
        let cost_us = self.cost(wishes);
        self.planned_us = cost_us;
        for (i, wish) in wishes.iter().enumerate() {
            self.members[i].large = self.is_large(wish.kind, self.members[i].rung);
        }
        Planned { cost_us, changed, lacks_us }
    }

    /// What a rung costs by all that is known, µs.
    fn price(&self, kind: usize, rung: u16) -> f32 {
        let heavy = if self.is_large(kind, rung) { self.heavy } else { 1.0 };
        self.used * heavy * self.kinds[kind][rung as usize].cost_us
    }

    fn is_large(&self, kind: usize, rung: u16) -> bool {
        self.kinds[kind][rung as usize].cost_us > LARGE * self.settings.budget_us
    }

    fn cost(&self, wishes: &[Wish]) -> f32 {
        self.members.iter().zip(wishes).map(|(m, w)| self.price(w.kind, m.rung)).sum()
    }

    /// What a rung is worth to a garment.
    fn worth(&self, member: &Member, wish: &Wish, rung: u16) -> f32 {
        let r = &self.kinds[wish.kind][rung as usize];
        let mut quality = r.quality;
        if r.learned {
            quality *= 0.2 + 0.8 * wish.trust.clamp(0.0, 1.0);
        }
        // Cloth in the body is worth a climb: what is below the present rung is where it went wrong.
        let wrong = (wish.inside_mm / 20.0).clamp(0.0, 1.0);
        let quality = if rung <= member.rung { quality * (1.0 - 0.5 * wrong) } else { quality };
        wish.priority * quality
    }

    /// Finds the rung that each garment should have; what the cheapest cost too much, µs.
    fn want(&mut self, wishes: &[Wish], room: f32) -> f32 {
        let mut spent = 0.0;
        self.heap.clear();
        for (i, wish) in wishes.iter().enumerate() {
            self.members[i].wanted = 0;
            spent += self.price(wish.kind, 0);
        }
        let lacks = (spent - self.settings.budget_us).max(0.0);
        if lacks > 0.0 {
            return lacks;
        }
        for i in 0..wishes.len() {
            self.offer(i, &wishes[i], 0);
        }
        while let Some(climb) = self.heap.pop() {
            let wish = &wishes[climb.member as usize];
            let more = self.price(wish.kind, climb.to) - self.price(wish.kind, climb.from);
            if spent + more > room {
                // A cheaper rung on the way may still fit.
                self.offer_below(&climb, wish, room - spent);
                continue;
            }
            spent += more;
            self.members[climb.member as usize].wanted = climb.to;
            self.offer(climb.member as usize, wish, climb.to);
        }
        0.0
    }

    /// The climb from a rung that is worth most for its cost, over rungs that are worth nothing by themselves.
    fn offer(&mut self, member: usize, wish: &Wish, from: u16) {
        let top = self.kinds[wish.kind].len() as u16;
        self.offer_best(member, wish, from, top, f32::INFINITY);
    }

    fn offer_below(&mut self, climb: &Climb, wish: &Wish, left: f32) {
        self.offer_best(climb.member as usize, wish, climb.from, climb.to, left);
    }

    fn offer_best(&mut self, member: usize, wish: &Wish, from: u16, end: u16, left: f32) {
        let own = self.members[member];
        let (base, paid) = (self.worth(&own, wish, from), self.price(wish.kind, from));
        let mut best: Option<Climb> = None;
        for to in from + 1..end {
            let more = self.price(wish.kind, to) - paid;
            let keeps = if own.known && to <= own.rung { self.settings.keeps } else { 1.0 };
            let worth = keeps * (self.worth(&own, wish, to) - base) / more.max(1e-3);
            if worth > 0.0 && more <= left && best.is_none_or(|b| worth > b.worth) {
                best = Some(Climb { worth, member: member as u32, from, to });
            }
        }
        self.heap.extend(best);
    }

    /// Brings garments nearer to what they should have: down first, then up as far as there is room, few at a time.
    fn change(&mut self, wishes: &[Wish], room: f32) -> usize {
        let mut spent = self.cost(wishes);
        let short = spent > room;
        let (mut changed, mut started_us) = (0, 0.0f32);
        for (i, wish) in wishes.iter().enumerate() {
            let member = self.members[i];
            if !member.known {
                // Who is new starts where it should be, if there is room: nothing is handed over.
                let more = self.price(wish.kind, member.wanted) - self.price(wish.kind, member.rung);
                let rung = if spent + more <= room { member.wanted } else { member.rung };
                spent += self.price(wish.kind, rung) - self.price(wish.kind, member.rung);
                self.members[i] = Member { rung, known: true, ..member };
                continue;
            }
            if member.wanted < member.rung && (short || member.secs >= self.settings.hold_secs) {
                spent += self.price(wish.kind, member.wanted) - self.price(wish.kind, member.rung);
                (self.members[i].rung, self.members[i].secs) = (member.wanted, 0.0);
                changed += 1;
            }
        }
        self.order.clear();
        for (i, wish) in wishes.iter().enumerate() {
            let m = &self.members[i];
            if m.wanted > m.rung && m.secs >= self.settings.hold_secs {
                self.order.push((wish.priority, i as u32));
            }
        }
        self.order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut begun = 0;
        for k in 0..self.order.len() {
            let i = self.order[k].1 as usize;
            let (m, wish) = (self.members[i], &wishes[i]);
            let more = self.price(wish.kind, m.wanted) - self.price(wish.kind, m.rung);
            let start = self.used * self.kinds[wish.kind][m.wanted as usize].start_us;
            // What it takes to begin must fit into the frame as well.
            let fits = spent + more <= room && spent + more + started_us + start <= self.settings.budget_us;
            if !fits || start > 0.0 && begun >= self.settings.moves {
                continue;
            }
            (spent, started_us) = (spent + more, started_us + start);
            begun += usize::from(start > 0.0);
            (self.members[i].rung, self.members[i].secs) = (m.wanted, 0.0);
            changed += 1;
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKIN: u32 = 0;
    const STABLE: u32 = 1;
    const FULL: u32 = 2;

    fn rungs() -> Vec<Rung> {
        let rung = |tier, dims, cost_us, quality, learned| Rung {
            tier,
            dims,
            cost_us,
            start_us: 0.0,
            quality,
            learned,
        };
        vec![
            rung(SKIN, 0, 4.0, 0.2, false),
            rung(STABLE, 16, 6.0, 0.6, true),
            rung(STABLE, 64, 10.0, 0.8, true),
            rung(FULL, 0, 3000.0, 1.0, false),
        ]
    }

    fn wish(priority: f32) -> Wish {
        Wish { kind: 0, priority, trust: 1.0, inside_mm: 0.0 }
    }

    fn scheduler(budget_us: f32) -> Scheduler {
        let settings = SchedulerSettings { budget_us, moves: 1000, ..SchedulerSettings::default() };
        Scheduler::new(settings, vec![rungs()]).unwrap()
    }

    fn settle(s: &mut Scheduler, wishes: &[Wish]) -> Planned {
        (0..120).map(|_| s.plan(wishes, 1.0 / 60.0)).last().unwrap()
    }

    #[test]
    fn the_nearest_get_the_best_and_the_plan_stays_within_the_budget() {
        let wishes: Vec<Wish> = (0..1000).map(|i| wish(1.0 / (1.0 + i as f32))).collect();
        let mut s = scheduler(16_600.0);
        let planned = settle(&mut s, &wishes);
        assert!(planned.cost_us <= 0.8 * 16_600.0 + 1e-2, "{planned:?}");
        assert!(planned.cost_us > 0.65 * 16_600.0, "room is used: {planned:?}");
        let tier = |i: usize| s.rungs(0)[s.rung(i)].tier;
        assert_eq!((tier(0), tier(999)), (FULL, STABLE));
        assert!((1..1000).all(|i| s.rung(i) <= s.rung(i - 1)), "nobody farther has more");
        // Half the budget: everyone goes down, and the nearest still has the most.
        s.set_budget(6000.0);
        let planned = s.plan(&wishes, 1.0 / 60.0);
        assert!(planned.cost_us <= 6000.0, "at once: {planned:?}");
        assert_eq!(s.rung(999), 0);
    }

    #[test]
    fn a_garment_on_the_border_does_not_flicker() {
        let mut s = scheduler(200.0);
        let others: Vec<Wish> = (0..20).map(|_| wish(1.0)).collect();
        settle(&mut s, &others);
        let mut changes = 0;
        for f in 0..600 {
            // Priorities shake by a tenth.
            let shaken: Vec<Wish> =
                (0..20).map(|i| wish(1.0 + 0.1 * ((f * 7 + i * 3) as f32).sin())).collect();
            changes += s.plan(&shaken, 1.0 / 60.0).changed;
        }
        assert!(changes <= 4, "{changes} changes in ten seconds");
    }

    #[test]
    fn frames_that_take_now_longer_and_now_shorter_move_few() {
        let wishes: Vec<Wish> = (0..1000).map(|i| wish(1.0 / (1.0 + i as f32))).collect();
        let mut s = scheduler(12_000.0);
        settle(&mut s, &wishes);
        let mut changes = 0;
        for f in 0..900 {
            let planned = s.plan(&wishes, 1.0 / 60.0);
            // The first seconds find out what frames really cost.
            changes += if f < 300 { 0 } else { planned.changed };
            s.measured(planned.cost_us * (1.0 + 0.15 * (f as f32 * 1.7).sin()));
        }
        assert!(changes < 100, "{changes} changes in ten seconds, for a thousand");
    }

    #[test]
    fn what_leaves_its_range_or_sinks_in_climbs() {
        // Room for one of two at the top.
        let mut s = scheduler(4000.0);
        let calm = [wish(1.0), wish(0.99)];
        settle(&mut s, &calm);
        assert_eq!((s.rung(0), s.rung(1)), (3, 2));
        let lost = [wish(1.0), Wish { trust: 0.0, ..wish(0.99) }];
        settle(&mut s, &lost);
        assert_eq!((s.rung(0), s.rung(1)), (2, 3), "the one out of range is simulated");
        let mut s = scheduler(4000.0);
        settle(&mut s, &calm);
        let deep = [wish(1.0), Wish { inside_mm: 30.0, ..wish(0.99) }];
        s.plan(&deep, 1.0);
        settle(&mut s, &deep);
        assert_eq!(s.rung(1), 3, "the one in the body climbs");
    }

    #[test]
    fn a_large_rung_that_costs_more_than_it_should_is_left_and_the_many_stay() {
        let wishes: Vec<Wish> = (0..100).map(|i| wish(1.0 / (1.0 + i as f32))).collect();
        let mut s = scheduler(6000.0);
        settle(&mut s, &wishes);
        assert_eq!(s.rung(0), 3);
        let (mut over, mut least) = (0, usize::MAX);
        for f in 0..600 {
            s.plan(&wishes, 1.0 / 60.0);
            // The simulation takes thrice as long as it was said to.
            let cost = |i: usize| s.rungs(0)[s.rung(i)].cost_us * if s.rung(i) == 3 { 3.0 } else { 1.0 };
            let real = (0..100).map(cost).sum::<f32>();
            s.measured(real);
            over += usize::from(real > 6600.0);
            if f > 60 {
                least = least.min((0..100).filter(|i| s.rung(*i) >= 2).count());
            }
        }
        assert!(over <= 12, "{over} of 600 frames over");
        assert!(least >= 99, "{least} of 100 keep what they have");
    }

    #[test]
    fn costs_that_were_given_wrong_are_put_right_and_a_budget_that_cannot_be_kept_is_said() {
        let wishes: Vec<Wish> = (0..100).map(|_| wish(1.0)).collect();
        let mut s = scheduler(1000.0);
        let mut real = 0.0;
        for f in 0..400 {
            s.plan(&wishes, 1.0 / 60.0);
            // Everything takes half as long again.
            real = 1.5 * (0..100).map(|i| s.rungs(0)[s.rung(i)].cost_us).sum::<f32>();
            s.measured(real);
            assert!(f < 60 || real <= 1100.0, "frame {f}: {real} µs");
        }
        assert!((1.35..1.65).contains(&s.scale()) && real > 600.0, "{} {real}", s.scale());
        s.set_budget(100.0);
        let planned = s.plan(&wishes, 1.0 / 60.0);
        assert!((planned.lacks_us - 500.0).abs() < 60.0, "{planned:?}");
        assert!((0..100).all(|i| s.rung(i) == 0));
        let bad = SchedulerSettings { budget_us: f32::NAN, ..SchedulerSettings::default() };
        assert!(Scheduler::new(bad, vec![rungs()]).is_err());
        assert!(Scheduler::new(SchedulerSettings::default(), vec![vec![]]).is_err());
    }
}
