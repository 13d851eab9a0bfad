//! Pictures and films as files, read back.

use toile_show::{Anchor, Film, FilmFormat, Image, Label, apng, beside, contact_sheet, gif, write_gif};

fn frames() -> Vec<Image> {
    (0..10)
        .map(|k| {
            let mut image = Image::new(60, 40, [220, 225, 230, 255]);
            for y in 10..30 {
                for x in 0..12 {
                    image.blend(4 * k + x, y, [180, 60, 40], 1.0);
                }
            }
            image
        })
        .collect()
}

#[test]
fn a_png_comes_back_as_it_was_with_or_without_transparency() {
    for alpha in [255, 80] {
        let mut image = Image::new(33, 7, [1, 2, 3, alpha]);
        Label::new("Toile").at(Anchor::Top).write(&mut image, None);
        let bytes = image.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (33, 7));
        let channels = pixels.len() / (33 * 7);
        assert_eq!(channels, if alpha == 255 { 3 } else { 4 });
        for (back, was) in pixels.chunks_exact(channels).zip(image.pixels().chunks_exact(4)) {
            assert_eq!(back, &was[..channels]);
        }
    }
}

#[test]
fn half_the_size_is_the_mean_of_four() {
    let mut image = Image::new(4, 3, [0, 0, 0, 255]);
    image.blend(0, 0, [255, 255, 255], 1.0);
    image.blend(1, 1, [255, 255, 255], 1.0);
    let half = image.halved();
    assert_eq!((half.width(), half.height()), (2, 1));
    assert_eq!((half.at(0, 0), half.at(1, 0)), ([128, 128, 128, 255], [0, 0, 0, 255]));
    assert_eq!(Image::new(1, 1, [7, 7, 7, 255]).halved().at(0, 0), [7, 7, 7, 255]);
}

#[test]
fn a_gif_shows_every_frame_with_little_error_and_the_right_length() {
    let frames = frames();
    let bytes = gif(&frames, 30.0).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(&bytes[..]).unwrap();
    let mut canvas = vec![0u8; 60 * 40 * 4];
    let (mut shown, mut hundredths) = (0, 0);
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        hundredths += frame.delay;
        for y in 0..frame.height as usize {
            for x in 0..frame.width as usize {
                let from = 4 * (y * frame.width as usize + x);
                let to = 4 * ((y + frame.top as usize) * 60 + x + frame.left as usize);
                if frame.buffer[from + 3] != 0 {
                    canvas[to..to + 4].copy_from_slice(&frame.buffer[from..from + 4]);
                }
            }
        }
        let worst = canvas.iter().zip(frames[shown].pixels()).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst < Some(12), "frame {shown} is off by {worst:?}");
        shown += 1;
    }
    assert_eq!((shown, hundredths), (10, 33));
    assert!(bytes.len() < 6000, "{} bytes", bytes.len());
}

#[test]
fn an_apng_is_exact() {
    let frames = frames();
    let bytes = apng(&frames, 30.0).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    assert_eq!(reader.info().animation_control().unwrap().num_frames, 10);
    let mut canvas = vec![0u8; 60 * 40 * 3];
    for frame in &frames {
        let mut part = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut part).unwrap();
        let control = *reader.info().frame_control().unwrap();
        for y in 0..control.height as usize {
            let to = 3 * ((y + control.y_offset as usize) * 60 + control.x_offset as usize);
            let row = 3 * control.width as usize;
            canvas[to..to + row].copy_from_slice(&part[y * row..(y + 1) * row]);
        }
        let expected: Vec<u8> = frame.pixels().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        assert!(canvas == expected);
    }
}

#[test]
fn films_of_nothing_or_of_mixed_sizes_are_refused() {
    assert!(gif(&[], 30.0).is_err() && apng(&[], 30.0).is_err());
    let mixed = [Image::new(4, 4, [0; 4]), Image::new(4, 5, [0; 4])];
    assert!(gif(&mixed, 30.0).is_err() && apng(&mixed, 30.0).unwrap_err().to_string().contains("frame 1"));
    let one = [Image::new(1, 1, [9, 9, 9, 255])];
    assert!(!gif(&one, f32::NAN).unwrap().is_empty() && !apng(&one, 0.0).unwrap().is_empty());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let error = write_gif("/nowhere/at/all/x.gif", &frames(), 30.0).unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all/x.gif"), "{error}");
}

#[test]
fn sheets_and_panes_hold_their_pictures() {
    let pictures = [Image::new(20, 10, [255, 0, 0, 255]), Image::new(20, 10, [0, 0, 255, 255])];
    let row = beside(&pictures).unwrap();
    assert_eq!((row.width(), row.height()), (42, 10));
    assert_eq!((row.at(5, 5), row.at(30, 5)), ([255, 0, 0, 255], [0, 0, 255, 255]));
    let sheet = contact_sheet(&pictures, &["one", "two"], 1).unwrap();
    assert!(sheet.height() > 2 * 10 + 20, "captions need room");
    assert!(beside(&[]).is_err() && contact_sheet(&pictures, &[], 0).is_err());
    assert!(beside(&[Image::new(4, 4, [0; 4]), Image::new(4, 5, [0; 4])]).is_err());
}

#[test]
fn labels_stay_inside_whatever_their_place() {
    for anchor in [Anchor::TopLeft, Anchor::TopRight, Anchor::Bottom, Anchor::BottomRight] {
        let mut image = Image::new(200, 60, [255; 4]);
        Label::new("frame 12\n0.4 cm").at(anchor).write(&mut image, None);
        let dark = |x: u32, y: u32| image.at(x, y)[0] < 128;
        assert!((0..200).any(|x| (0..60).any(|y| dark(x, y))), "{anchor:?}");
        assert!(!(0..200).any(|x| dark(x, 0) || dark(x, 59)), "{anchor:?}");
    }
    let mut tiny = Image::new(1, 1, [255; 4]);
    Label::new("too long for this").write(&mut tiny, None);
}

#[test]
fn a_film_written_frame_by_frame_is_the_same_film() {
    let folder = std::env::temp_dir().join(format!("toile-film-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let frames = frames();
    for (name, format, whole) in [
        ("a.gif", FilmFormat::Gif, gif(&frames, 30.0).unwrap()),
        ("a.apng", FilmFormat::Apng, apng(&frames, 30.0).unwrap()),
    ] {
        let path = folder.join(name);
        let mut film = Film::create(&path, format, 30.0, frames.len(), &frames).unwrap();
        for frame in &frames {
            assert!(!path.exists(), "it is not there before it is complete");
            film.push(frame).unwrap();
        }
        assert!(film.push(&frames[0]).is_err(), "one too many");
        film.finish().unwrap();
        assert!(std::fs::read(&path).unwrap() == whole, "{name}");
        std::fs::remove_file(&path).unwrap();
        // Given up, cut short, or with a frame of another size, it leaves nothing.
        let mut film = Film::create(&path, format, 30.0, 10, &frames[..1]).unwrap();
        film.push(&frames[0]).unwrap();
        assert!(film.push(&Image::new(3, 3, [0; 4])).is_err());
        assert!(film.finish().unwrap_err().to_string().contains("9 frames"));
        drop(Film::create(&path, format, 30.0, 10, &frames[..1]).unwrap());
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir(&folder).unwrap();
}
