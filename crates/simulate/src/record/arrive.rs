//! To the first frame of a motion, by a way that leaves the garment as it should be.

use super::frames::places;
use crate::drape::{DrapeSettings, WAYS, ramp_by};
use crate::verdict::Judge;
use crate::world::World;
use crate::{Error, Result, StepReport};
use toile_assets::{Body, Motion, Verdict};

/// A garment at the motion's first frame. A clip may begin in a pose that cannot be got to by the usual way without cloth being
/// caught, a hem under an arm that lies on the hip; then others are tried, and nothing of them is in the take.
pub(super) fn arrive(draped: &World, body: &Body, motion: &Motion, how: &DrapeSettings) -> Result<World> {
    let bones = body.bones(&motion.poses[0]);
    let arrived = first_good(WAYS.iter().map(|way| {
        let mut world = draped.clone();
        ramp_by(way, &mut world, body, motion, how)?;
        let x = places(&world);
        let mut judge = Judge::new(body, &world.scene, &x);
        judge.look(&x, &bones, &StepReport::default());
        Ok((judge.verdict(), world))
    }));
    arrived.map_err(|e| match e {
        // Frames of the ramp are nobody's frames.
        Error::Stuck { vertex, cause, retries, .. } => Error::Ramp { vertex, cause, retries },
        other => other,
    })
}

/// The first that is true; where none is, the one with the least harm done; where all stop, why the first did.
fn first_good<T>(ways: impl Iterator<Item = Result<(Verdict, T)>>) -> Result<T> {
    let mut best: Option<([f32; 3], T)> = None;
    let mut stopped = Error::Scene("there is no way to the first frame".into());
    for (k, way) in ways.enumerate() {
        match way {
            Ok((verdict, arrived)) if verdict.is_true() => return Ok(arrived),
            Ok((verdict, arrived)) => {
                let harm = [verdict.crossings.value, verdict.depth_mm.value, verdict.strain.value];
                if best.as_ref().is_none_or(|(least, _)| harm < *least) {
                    best = Some((harm, arrived));
                }
            }
            Err(e) if k == 0 => stopped = e,
            Err(_) => {}
        }
    }
    best.map_or(Err(stopped), |(_, arrived)| Ok(arrived))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deep(mm: f32) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.depth_mm.see(mm, 0);
        verdict
    }

    fn stops(vertex: usize) -> Error {
        let cause = crate::step::Cause::NoConvergence;
        Error::Ramp { vertex, cause, retries: 0 }
    }

    #[test]
    fn a_way_that_ends_well_is_the_last_one_tried() {
        let mut tried = 0;
        let ways = [Ok((deep(18.0), 'a')), Err(stops(1)), Ok((deep(4.0), 'c')), Ok((deep(0.0), 'd'))];
        let arrived = first_good(ways.into_iter().inspect(|_| tried += 1)).unwrap();
        assert_eq!((arrived, tried), ('c', 3));
    }

    #[test]
    fn where_none_ends_well_the_least_bad_is_taken_and_where_all_stop_it_is_said_why() {
        let ways = [Ok((deep(18.0), 'a')), Ok((deep(9.0), 'b')), Err(stops(3)), Ok((deep(12.0), 'd'))];
        assert_eq!(first_good(ways.into_iter()).unwrap(), 'b');
        let said = first_good([Err::<(Verdict, ()), _>(stops(7)), Err(stops(8))].into_iter()).unwrap_err();
        assert!(matches!(said, Error::Ramp { vertex: 7, .. }), "{said}");
    }
}
