//! Which garment gets which tier within a budget of time.

use crate::status::{Failure, Status, border, null, run_error};
use toile_run::SchedulerSettings;

/// Decides frame by frame; there is no clock in it. Used by one thread at a time.
pub struct Scheduler {
    inner: toile_run::Scheduler,
    kinds: usize,
    wishes: Vec<toile_run::Wish>,
}

/// One way to have a garment: a tier, with so many dims.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rung {
    /// Any number that you know your tiers by.
    pub tier: u32,
    /// How many dims of a learned garment are drawn; 0 where that means nothing.
    pub dims: u32,
    /// What one garment costs in a frame, µs.
    pub cost_us: f32,
    /// What it costs once to take over, µs.
    pub start_us: f32,
    /// How good it is, from 0 (nothing) to 1 (the truth).
    pub quality: f32,
    /// 1 where it is worth only as much as the learned garment trusts itself, else 0.
    pub learned: u32,
}

/// What is known of one garment in a frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Which list of rungs it has.
    pub kind: u32,
    /// How much it matters: the share of the screen's height it takes, weighted by importance.
    pub priority: f32,
    /// How far its learned garment trusts itself, 0 to 1 (toile_crowd_gate).
    pub trust: f32,
    /// How deep its cloth is in the body, mm: the deeper, the more a climb is worth.
    pub inside_mm: f32,
}

/// # Safety
/// `scheduler` is null or was returned by this library and has not been freed and nobody else uses it.
unsafe fn scheduler_mut<'a>(scheduler: *mut Scheduler) -> Result<&'a mut Scheduler, Failure> {
    // SAFETY: the caller's promise.
    unsafe { scheduler.as_mut() }.ok_or_else(|| null("scheduler"))
}

/// Makes a scheduler that keeps `budget_us` microseconds a frame. The rungs of all kinds lie one after the other, each kind's
/// from the cheapest on; `counts` says how many each of the `kinds` has. Free it with toile_scheduler_free.
///
/// # Safety
/// `counts` points to `kinds` numbers and `rungs` to as many rungs as they sum to; `out` points to one pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_scheduler_new(
    budget_us: f32,
    rungs: *const Rung,
    counts: *const u32,
    kinds: usize,
    out: *mut *mut Scheduler,
) -> Status {
    border(|| {
        if rungs.is_null() || counts.is_null() || out.is_null() {
            return Err(null("rungs, counts or out"));
        }
        if !(1..=4096).contains(&kinds) {
            return Err((Status::Range, format!("{kinds} kinds of garments; 1 to 4096 can be")));
        }
        let mut lists = Vec::with_capacity(kinds);
        let mut at = 0;
        for k in 0..kinds {
            // SAFETY: the caller promises a number for each kind.
            let count = unsafe { counts.add(k).read_unaligned() } as usize;
            if !(1..=256).contains(&count) {
                return Err((Status::Range, format!("kind {k} has {count} rungs; 1 to 256 can be")));
            }
            // SAFETY: the caller promises as many rungs as the counts sum to.
            let list = (at..at + count).map(|i| unsafe { rungs.add(i).read_unaligned() });
            lists.push(list.map(toile_run::Rung::from).collect::<Vec<_>>());
            at += count;
        }
        let settings = SchedulerSettings { budget_us, ..SchedulerSettings::default() };
        let inner = toile_run::Scheduler::new(settings, lists).map_err(run_error)?;
        let scheduler = Scheduler { inner, kinds, wishes: Vec::new() };
        // SAFETY: the caller promises room for a pointer.
        unsafe { out.write(Box::into_raw(Box::new(scheduler))) };
        Ok(())
    })
}

impl From<Rung> for toile_run::Rung {
    fn from(r: Rung) -> Self {
        Self {
            tier: r.tier,
            dims: r.dims,
            cost_us: r.cost_us,
            start_us: r.start_us,
            quality: r.quality,
            learned: r.learned != 0,
        }
    }
}

/// Frees a scheduler. Null is allowed.
///
/// # Safety
/// `scheduler` was returned by this library and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_scheduler_free(scheduler: *mut Scheduler) {
    if !scheduler.is_null() {
        border(|| {
            // SAFETY: made by `Box::into_raw` here, and the caller promises not to free it twice.
            drop(unsafe { Box::from_raw(scheduler) });
            Ok(())
        });
    }
}

/// Decides for `count` garments, `dt_secs` after the last time, and writes the number of each one's rung. `lacks_us`, where it
/// is not null, takes what all of them at their cheapest cost beyond the budget: 0 where it is kept.
///
/// # Safety
/// `scheduler` was returned by this library and has not been freed; `wishes` points to `count` wishes and `rungs` to `count`
/// numbers; `lacks_us` points to one number or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_scheduler_plan(
    scheduler: *mut Scheduler,
    wishes: *const Wish,
    count: usize,
    dt_secs: f32,
    rungs: *mut u32,
    lacks_us: *mut f32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let scheduler = unsafe { scheduler_mut(scheduler) }?;
        if count > 0 && (wishes.is_null() || rungs.is_null()) {
            return Err(null("wishes or rungs"));
        }
        if !(dt_secs > 0.0 && dt_secs <= 1.0) {
            return Err((Status::TimeStep, format!("a time step of {dt_secs} s; it wants above 0 to 1")));
        }
        scheduler.wishes.clear();
        for i in 0..count {
            // SAFETY: the caller promises so many wishes.
            let w = unsafe { wishes.add(i).read_unaligned() };
            if w.kind as usize >= scheduler.kinds {
                let what = format!("garment {i} is of kind {}, there are {}", w.kind, scheduler.kinds);
                return Err((Status::Count, what));
            }
            if !(w.priority.is_finite() && w.trust.is_finite() && w.inside_mm.is_finite()) {
                return Err((Status::NotFinite, format!("the wish of garment {i} is not finite")));
            }
            let (kind, priority) = (w.kind as usize, w.priority);
            let wish = toile_run::Wish { kind, priority, trust: w.trust, inside_mm: w.inside_mm };
            scheduler.wishes.push(wish);
        }
        let planned = scheduler.inner.plan(&scheduler.wishes, dt_secs);
        for i in 0..count {
            // SAFETY: the caller promises so many numbers.
            unsafe { rungs.add(i).write_unaligned(scheduler.inner.rung(i) as u32) };
        }
        if !lacks_us.is_null() {
            // SAFETY: the caller promises room for a number.
            unsafe { lacks_us.write_unaligned(planned.lacks_us) };
        }
        Ok(())
    })
}

/// Says what the frame that was planned last has cost, µs: later plans are corrected by it.
///
/// # Safety
/// `scheduler` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_scheduler_measured(scheduler: *mut Scheduler, frame_us: f32) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let scheduler = unsafe { scheduler_mut(scheduler) }?;
        if !(frame_us.is_finite() && frame_us >= 0.0) {
            return Err((Status::Range, format!("a frame of {frame_us} µs")));
        }
        scheduler.inner.measured(frame_us);
        Ok(())
    })
}

/// Says that a hand-over was refused: the garment stays at a rung for a while.
///
/// # Safety
/// `scheduler` was returned by this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toile_scheduler_refused(
    scheduler: *mut Scheduler,
    garment: usize,
    stays_at: u32,
) -> Status {
    border(|| {
        // SAFETY: the caller's promise.
        let scheduler = unsafe { scheduler_mut(scheduler) }?;
        scheduler.inner.refused(garment, stays_at as usize);
        Ok(())
    })
}
