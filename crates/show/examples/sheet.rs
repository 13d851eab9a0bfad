//! Pictures in rows: `sheet OUT.png COLUMNS PICTURE.png…`, all of one kind (8-bit RGBA, as `toile render` writes them).

use std::fs::File;
use std::io::BufReader;
use toile_show::{Image, contact_sheet};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, columns, pictures @ ..] = args.as_slice() else {
        return Err("sheet OUT.png COLUMNS PICTURE.png…".into());
    };
    let pictures = pictures.iter().map(|p| read(p)).collect::<Result<Vec<Image>, _>>()?;
    contact_sheet(&pictures, &[], columns.parse()?)?.write_png(out)?;
    Ok(())
}

fn read(path: &str) -> Result<Image, Box<dyn std::error::Error>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let info = reader.next_frame(&mut pixels)?;
    if info.color_type != png::ColorType::Rgba {
        return Err(format!("{path}: {:?} is not read", info.color_type).into());
    }
    Ok(Image::from_rgba(info.width, info.height, pixels)?)
}
