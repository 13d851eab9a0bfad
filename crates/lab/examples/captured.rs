//! Captured clips with a garment: what the verdict says of each take, with its glitches mended and, asked for, as it was.
//!
//! `cargo run --release -p toile-lab --example captured -- dress clips/*.bvh [--as-captured]`

use toile_assets::retarget::{RetargetSettings, retarget};
use toile_assets::{builtin, read};
use toile_simulate::{Recorder, describe_mends, mend_glitches, without_lone_frame};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let as_captured = args.iter().any(|a| a == "--as-captured");
    args.retain(|a| !a.starts_with("--"));
    let body = builtin::body("mannequin:female")?;
    let garment = builtin::garment(args.first().map_or("dress", String::as_str), &body)?;
    let fabric = builtin::fabric(&garment.fabric)?;
    let draped = Recorder::new(&body, &garment).drape(&fabric)?;
    let (mut all, mut good) = (0, 0);
    for path in args.iter().skip(1) {
        let motion = read::bvh::read_motion(path, None)?.value;
        let (mended, mends) = mend_glitches(&motion);
        let motion = if as_captured { motion } else { mended };
        let (motion, _) = retarget(&motion, &body, &RetargetSettings::default())?;
        let motion = without_lone_frame(&body, &motion).map_or(motion, |(rest, _)| rest);
        all += 1;
        let outcome = toile_simulate::check_clip(&body, &motion, &Default::default())
            .and_then(|()| Recorder::new(&body, &garment).record_draped(&draped, &motion));
        match outcome {
            Ok(recording) => {
                let v = recording.take.verdict.unwrap_or_default();
                good += usize::from(v.is_true());
                println!(
                    "{path}: {} stretch {:.1} % deepest {:.1} mm crossings {} {}",
                    if v.is_true() { "true  " } else { "UNTRUE" },
                    100.0 * v.strain.value,
                    v.depth_mm.value,
                    v.crossings.value,
                    describe_mends(&mends, motion.fps).unwrap_or_default()
                );
            }
            Err(e) => println!("{path}: STOPS {e}"),
        }
    }
    println!("{good} of {all} true");
    Ok(())
}
