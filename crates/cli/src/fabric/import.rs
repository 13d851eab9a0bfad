//! `toile fabric import`: a sheet of tests becomes a fabric.

use super::{Destination, value, write_all};
use crate::resolve::{self, BadRequest};
use anyhow::Result;
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use toile_assets::Error;
use toile_assets::read::kes;

/// Make a fabric of a KES-F sheet, or of a bending length (ASTM D1388) and a weight
#[derive(Parser)]
#[command(
    after_help = "A sheet is a CSV file with a column for each property (name,LT-1,LT-2,WT,RT,B-1,B-2,2HB,G,2HG,\
    2HG5,MIU,T,W) and a row for each cloth, or with a row for each property (property,warp,weft,unit), or a TOML file \
    (B = [0.12, 0.09]). Units are the usual ones of KES-F: gf, cm, degrees, mg/cm². A bending length is `C`, cm; a weight \
    may also be `GSM`, g/m².\n\nExamples:\n  toile fabric import mill.csv --out mill.toml\n  \
    toile fabric import strip.toml --like poplin --out strip-poplin.toml"
)]
pub struct Args {
    /// The sheet, .csv or .toml
    sheet: PathBuf,
    /// A fabric that stands in for what the sheet lacks; without it a KES-F sheet must be whole
    #[arg(long, value_name = "FABRIC")]
    like: Option<String>,
    #[command(flatten)]
    to: Destination,
}

pub fn run(args: &Args) -> Result<()> {
    let like = resolve::fabric(args.like.as_deref().unwrap_or("cotton"))?;
    let sheets = kes::read_sheets(&args.sheet)?;
    let mut faults: Vec<String> = sheets.iter().flat_map(|sheet| sheet.faults(args.like.is_some())).collect();
    match faults.len() {
        0 => {}
        1 => return Err(Error::bad(&args.sheet, "sheet", faults.remove(0)).into()),
        _ => return Err(Error::many(&args.sheet, faults).into()),
    }
    let fabrics: Vec<_> = sheets.iter().map(|sheet| sheet.fabric(&like)).collect();
    let mut absurd =
        fabrics.iter().flat_map(|f| f.absurdities().into_iter().map(|a| format!("{}: {a}", f.name)));
    if let Some(fault) = absurd.next() {
        return Err(Error::bad(&args.sheet, "sheet", fault).into());
    }
    if let [fabric] = fabrics.as_slice() {
        args.to.check(args.sheet.to_str())?;
        return args.to.hand_over(fabric, json!({}));
    }
    let Some(folder) = &args.to.out else {
        let names: Vec<&str> = fabrics.iter().map(|f| f.name.as_str()).collect();
        return Err(BadRequest(format!(
            "{}: holds {} cloths ({}); name a folder for them with --out",
            args.sheet.display(),
            fabrics.len(),
            names.join(", ")
        ))
        .into());
    };
    write_all(folder, args.to.overwrite, &fabrics)?;
    if args.to.json {
        println!("{}", json!({"fabrics": fabrics.iter().map(value).collect::<Vec<_>>()}));
    }
    Ok(())
}
