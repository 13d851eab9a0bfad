//! Pictures of simple shapes, judged by their pixels. They need a graphics adapter; the software driver will do.

use glam::{Vec2, Vec3};
use std::sync::{LazyLock, Mutex, MutexGuard};
use toile_show::{
    Backdrop, Camera, Error, Flock, FlockSource, Ground, Image, Item, Material, Member, MeshHandle, Renderer,
    Scene, Texture, View, heat_colours, srgb,
};

/// One renderer for all tests: opening one compiles shaders.
fn renderer() -> MutexGuard<'static, Renderer> {
    static SHARED: LazyLock<Mutex<Renderer>> =
        LazyLock::new(|| Mutex::new(Renderer::new().unwrap_or_else(|e| panic!("{e}"))));
    SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn sphere(centre: Vec3, radius: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (rings, sides) = (24u32, 40u32);
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for r in 0..=rings {
        let (sin_r, cos_r) = (std::f32::consts::PI * r as f32 / rings as f32).sin_cos();
        for s in 0..sides {
            let (sin_s, cos_s) = (std::f32::consts::TAU * s as f32 / sides as f32).sin_cos();
            positions.push(centre + radius * Vec3::new(sin_r * sin_s, cos_r, sin_r * cos_s));
        }
    }
    for r in 0..rings {
        for s in 0..sides {
            let (a, b) = (r * sides + s, r * sides + (s + 1) % sides);
            triangles.push([a, a + sides, b]);
            triangles.push([b, a + sides, b + sides]);
        }
    }
    (positions, triangles)
}

/// A square of the given half size in the plane z, facing +Z.
fn square(half: f32, z: f32) -> Vec<Vec3> {
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y): (f32, f32)| Vec3::new(half * x, half * y + 1.0, z))
        .to_vec()
}

const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

fn head_on() -> Camera {
    Camera { eye: Vec3::new(0.0, 1.0, 3.0), target: Vec3::new(0.0, 1.0, 0.0), ..Camera::default() }
}

fn paint(colour: Vec3) -> Material {
    Material { base: colour, flatness: 1.0, ..Material::default() }
}

fn light(image: &Image, x: u32, y: u32) -> u32 {
    let p = image.at(x, y);
    p[0] as u32 + p[1] as u32 + p[2] as u32
}

#[test]
fn a_ball_is_lit_from_the_left_and_throws_a_shadow() {
    let (positions, triangles) = sphere(Vec3::new(0.0, 0.5, 0.0), 0.5);
    let mesh = MeshHandle::new(&triangles);
    let scene = Scene::new().with(Item::new(&mesh, &positions, Material::default()));
    let camera = Camera::framing(Vec3::new(-1.0, 0.0, -1.0), Vec3::ONE, View::Front, 1.0);
    let with = renderer().draw(&scene, &camera, 128, 128).unwrap();
    let without = renderer().draw(&Scene::new(), &camera, 128, 128).unwrap();
    let at = |p: Vec3| camera.pixel(p, 128, 128).map(|p| (p.x as u32, p.y as u32)).unwrap();
    let (x, y) = at(Vec3::new(-0.3, 0.75, 0.3));
    let (u, v) = at(Vec3::new(0.38, 0.25, 0.2));
    assert!(
        light(&with, x, y) > light(&with, u, v) + 60,
        "key side {:?}, other {:?}",
        with.at(x, y),
        with.at(u, v)
    );
    // The key light stands left and in front, so the shadow falls to the right and behind; beside it nothing changes.
    let (x, y) = at(Vec3::new(0.55, 0.0, -0.3));
    assert!(light(&with, x, y) + 40 < light(&without, x, y), "{:?} {:?}", with.at(x, y), without.at(x, y));
    let (x, y) = at(Vec3::new(-0.95, 0.0, 0.9));
    assert!(light(&with, x, y).abs_diff(light(&without, x, y)) < 25);
    assert!(with.pixels().chunks_exact(4).all(|p| p[3] == 255));
}

#[test]
fn the_same_scene_gives_the_same_picture_and_moved_vertices_another() {
    let (positions, triangles) = sphere(Vec3::Y, 0.4);
    let moved: Vec<Vec3> = positions.iter().map(|p| *p + 0.1 * Vec3::X).collect();
    let mesh = MeshHandle::new(&triangles);
    let shot = |p: &[Vec3]| {
        let scene = Scene::new().with(Item::new(&mesh, p, Material::body()));
        renderer().draw(&scene, &head_on(), 96, 64).unwrap()
    };
    let (a, b, c) = (shot(&positions), shot(&moved), shot(&positions));
    assert_eq!(a, c);
    assert_ne!(a, b);
}

#[test]
fn one_mesh_twice_in_a_scene_keeps_both_shapes_and_places() {
    let left: Vec<Vec3> = square(0.2, 0.0).iter().map(|p| *p - 0.4 * Vec3::X).collect();
    let middle = square(0.2, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let red = paint(srgb(220, 0, 0));
    let scene = Scene::new()
        .with(Item::new(&mesh, &left, red))
        .with(Item::new(&mesh, &middle, red).at(Vec3::new(0.4, 0.0, 0.0)));
    let image = renderer().draw(&scene, &head_on(), 100, 100).unwrap();
    let redness = |x: u32| image.at(x, 50)[0] as i32 - image.at(x, 50)[2] as i32;
    assert!(redness(27) > 80 && redness(73) > 80 && redness(50) < 40);
}

#[test]
fn only_cloth_is_seen_from_behind_and_it_is_darker_there() {
    let positions = square(0.5, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let behind = Camera { eye: Vec3::new(0.0, 1.0, -3.0), ..head_on() };
    let shot = |material: Material, camera: &Camera| {
        let scene = Scene { ground: None, ..Scene::new() }.with(Item::new(&mesh, &positions, material));
        renderer().draw(&scene, camera, 64, 64).unwrap().at(32, 32)
    };
    let wall = {
        let empty = Scene { ground: None, ..Scene::new() };
        renderer().draw(&empty, &behind, 64, 64).unwrap().at(32, 32)
    };
    let cloth = Material::cloth(srgb(40, 90, 160));
    assert_eq!(shot(Material { two_sided: false, ..cloth }, &behind), wall);
    let (front, back) = (shot(cloth, &head_on()), shot(cloth, &behind));
    assert!(back[2] > back[0] + 20, "{back:?} is not blue");
    assert!((back[2] as i32) < front[2] as i32 - 5, "inside {back:?}, outside {front:?}");
}

#[test]
fn cloth_just_behind_the_body_is_drawn_in_front_of_it_within_the_slack() {
    let (body, near, far) = (square(0.5, 0.0), square(0.4, -0.006), square(0.4, -0.03));
    let mesh = MeshHandle::new(&SQUARE);
    let shot = |cloth: &[Vec3], slack: f32| {
        let green = Material { two_sided: true, depth_slack_m: slack, ..paint(srgb(0, 200, 0)) };
        let scene = Scene::new()
            .with(Item::new(&mesh, &body, paint(srgb(200, 0, 0))))
            .with(Item::new(&mesh, cloth, green));
        let p = renderer().draw(&scene, &head_on(), 64, 64).unwrap().at(32, 32);
        p[1] > p[0]
    };
    assert!(!shot(&near, 0.0), "6 mm behind without slack");
    assert!(shot(&near, 0.01), "6 mm behind with 1 cm slack");
    assert!(!shot(&far, 0.01), "3 cm behind with 1 cm slack");
}

#[test]
fn back_faces_of_cloth_get_no_slack() {
    // The far side of a skirt, seen from inside through nothing but the body in front of it.
    let body = square(0.5, 0.0);
    let mut far_side = square(0.4, -0.006);
    far_side.swap(0, 1);
    far_side.swap(2, 3);
    let mesh = MeshHandle::new(&SQUARE);
    let green = Material { two_sided: true, depth_slack_m: 0.01, ..paint(srgb(0, 200, 0)) };
    let scene = Scene::new()
        .with(Item::new(&mesh, &body, paint(srgb(200, 0, 0))))
        .with(Item::new(&mesh, &far_side, green));
    let p = renderer().draw(&scene, &head_on(), 64, 64).unwrap().at(32, 32);
    assert!(p[0] > p[1], "{p:?}");
}

#[test]
fn what_leads_by_the_slack_is_compared_with_cloth_as_it_is() {
    // A hand 6 mm before a skirt with 1 cm of slack.
    let (hand, skirt) = (square(0.3, 0.006), square(0.5, 0.0));
    let mesh = MeshHandle::new(&SQUARE);
    let green = Material { two_sided: true, depth_slack_m: 0.01, ..paint(srgb(0, 200, 0)) };
    let shot = |lead_m: f32| {
        let leads = [lead_m; 4];
        let scene = Scene::new()
            .with(Item::new(&mesh, &hand, paint(srgb(200, 0, 0))).leading(&leads))
            .with(Item::new(&mesh, &skirt, green));
        let p = renderer().draw(&scene, &head_on(), 64, 64).unwrap().at(32, 32);
        p[0] > p[1]
    };
    assert!(shot(0.01), "a hand that leads is seen");
    assert!(!shot(0.0), "skin that does not is covered");
}

#[test]
fn a_flock_is_drawn_where_and_in_the_colours_its_members_are() {
    let places: Vec<Vec<Vec3>> = [-0.4f32, 0.0, 0.4]
        .iter()
        .map(|x| square(0.12, 0.0).iter().map(|p| *p + *x * Vec3::X).collect())
        .collect();
    let normals = [Vec3::Z; 4];
    let colours = [srgb(220, 0, 0), srgb(0, 220, 0), srgb(0, 0, 220)];
    let member = |k: usize| Member { positions: &places[k], normals: &normals, colour: colours[k] };
    let mesh = MeshHandle::new(&SQUARE);
    let make = |slack: f32, leads_m| Flock {
        mesh: mesh.clone(),
        material: Material { depth_slack_m: slack, two_sided: slack > 0.0, ..paint(Vec3::ONE) },
        members: (0..3).map(member).collect(),
        leads_m,
    };
    let camera = head_on();
    let drawn = |flock: Flock<'_>| {
        let image = renderer().draw(&Scene::new().with_flock(flock), &camera, 120, 120).unwrap();
        places
            .iter()
            .map(|p| camera.pixel(0.5 * (p[0] + p[2]), 120, 120).unwrap())
            .map(|p| {
                let [r, g, b, _] = image.at(p.x as u32, p.y as u32);
                (0..3).max_by_key(|k| [r, g, b][*k]).unwrap()
            })
            .collect::<Vec<usize>>()
    };
    assert_eq!(drawn(make(0.0, None)), [0, 1, 2]);
    assert_eq!(drawn(make(0.02, Some(&[0.0; 4]))), [0, 1, 2]);
    let mut short = make(0.0, None);
    short.members[1].positions = &places[1][..3];
    let error = renderer().draw(&Scene::new().with_flock(short), &camera, 8, 8).unwrap_err();
    assert!(error.to_string().contains("member 1"), "{error}");
    // Farther apart than a portrait: the wide maps and the wide ground.
    let far: Vec<Vec3> = places[0].iter().map(|p| *p + 40.0 * Vec3::X).collect();
    let mut wide = make(0.0, None);
    wide.members[2].positions = &far;
    let image = renderer().draw(&Scene::new().with_flock(wide), &camera, 120, 120).unwrap();
    let p = camera.pixel(Vec3::new(-0.4, 1.0, 0.0), 120, 120).unwrap();
    assert!(image.at(p.x as u32, p.y as u32)[0] > 150);
}

/// Numbers in a buffer of the renderer's device.
fn on_device(renderer: &Renderer, numbers: &[Vec3]) -> wgpu::Buffer {
    let bytes: Vec<u8> = numbers.iter().flat_map(|v| v.to_array()).flat_map(f32::to_le_bytes).collect();
    let buffer = renderer.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    renderer.queue().write_buffer(&buffer, 0, &bytes);
    buffer
}

#[test]
fn a_flock_on_the_device_is_coarser_far_away_and_left_out_where_it_is_not_seen() {
    let mut renderer = renderer();
    // Near, far on the right, and behind the camera.
    let at = [
        (square(0.4, 0.0), Vec3::ZERO),
        (square(6.0, -60.0), 12.0 * Vec3::X),
        (square(0.4, 30.0), Vec3::ZERO),
    ];
    let positions: Vec<Vec3> =
        at.iter().flat_map(|(square, by)| square.iter().map(move |p| *p + *by)).collect();
    let [places, normals] =
        [positions.clone(), vec![Vec3::Z; positions.len()]].map(|v| on_device(&renderer, &v));
    let levels = [(MeshHandle::new(&SQUARE), 0.0), (MeshHandle::new(&SQUARE[..1]), 0.1)];
    let source = FlockSource {
        positions: &places,
        normals: &normals,
        stride: 4,
        levels: &levels,
        colours: &[Vec3::X, Vec3::Y, Vec3::Z],
        leads_m: None,
        anchor: (0, 17.0),
        bounds: (Vec3::new(-10.0, -5.0, -60.0), Vec3::new(20.0, 7.0, 30.0)),
    };
    let flock = renderer.flock(paint(Vec3::ONE), &source).unwrap();
    let canvas = renderer.canvas(160, 120).unwrap();
    let camera = head_on();
    let mut drawn = |off_px: f32| {
        let mut scene = Scene { off_px, ground: None, ..Scene::new() };
        scene.on_device = vec![&flock];
        renderer.draw_on(&canvas, &scene, &camera).unwrap();
        let image = renderer.read(&canvas).unwrap();
        // Lower right and upper left of each square: a coarse one has only the first.
        let colour = |x: f32, y: f32, z: f32| {
            let p = camera.pixel(Vec3::new(x, y, z), 160, 120).unwrap();
            let [r, g, b, _] = image.at(p.x as u32, p.y as u32);
            [r, g, b].map(|c| c > 200)
        };
        [colour(0.2, 0.8, 0.0), colour(-0.2, 1.2, 0.0), colour(15.0, -2.0, -60.0), colour(9.0, 4.0, -60.0)]
    };
    let (red, green, wall) = ([true, false, false], [false, true, false], [true, true, true]);
    assert_eq!(drawn(0.0), [red, red, green, green]);
    // A pixel is 22 cm there and 1.4 cm here.
    assert_eq!(drawn(1.0), [red, red, green, wall]);
    let few = renderer.flock(paint(Vec3::ONE), &FlockSource { stride: 5, ..source });
    assert!(few.unwrap_err().to_string().contains("does not lie in buffers"));
    let none = renderer.flock(paint(Vec3::ONE), &FlockSource { levels: &[], ..source });
    assert!(none.unwrap_err().to_string().contains("1 to 8 levels"));
}

#[test]
fn hidden_triangles_are_not_drawn() {
    let positions = square(0.5, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let half = mesh.without(&[true]);
    assert_eq!(half.triangles(), &SQUARE[1..]);
    let shot = |mesh: &MeshHandle| {
        let scene = Scene::new().with(Item::new(mesh, &positions, paint(srgb(200, 0, 0))));
        let image = renderer().draw(&scene, &head_on(), 64, 64).unwrap();
        [image.at(38, 38), image.at(26, 26)].map(|p| p[0] as i32 - p[2] as i32 > 60)
    };
    assert_eq!(shot(&mesh), [true, true]);
    assert_eq!(shot(&half), [false, true]);
}

#[test]
fn a_ghost_lets_through_what_is_behind_it() {
    let (solid, ghost) = (square(0.5, -0.2), square(0.5, 0.2));
    let mesh = MeshHandle::new(&SQUARE);
    let scene = Scene::new()
        .with(Item::new(&mesh, &ghost, Material { opacity: 0.4, ..paint(srgb(0, 0, 230)) }))
        .with(Item::new(&mesh, &solid, paint(srgb(230, 0, 0))));
    let p = renderer().draw(&scene, &head_on(), 64, 64).unwrap().at(32, 32);
    assert!(p[0] > 60 && p[2] > 60 && p[1] < 60, "{p:?}");
}

#[test]
fn the_wireframe_draws_the_diagonal_dark() {
    let positions = square(0.6, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let scene = |wireframe| {
        Scene::new().with(Item::new(&mesh, &positions, Material { wireframe, ..paint(srgb(230, 230, 230)) }))
    };
    let plain = renderer().draw(&scene(false), &head_on(), 128, 128).unwrap();
    let wired = renderer().draw(&scene(true), &head_on(), 128, 128).unwrap();
    let darkest = |image: &Image| (50..60).map(|x| light(image, x, 128 - x)).min().unwrap();
    assert!(darkest(&wired) + 150 < darkest(&plain));
    assert!(light(&wired, 80, 90).abs_diff(light(&plain, 80, 90)) < 12, "lines only");
}

#[test]
fn heat_colours_go_from_blue_to_red_across_the_surface() {
    let positions = square(0.6, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let colours = heat_colours(&[0.0, 3.0, 3.0, 0.0], 3.0);
    let material = Material { flatness: 0.8, ..Material::default() };
    let scene = Scene::new().with(Item::new(&mesh, &positions, material).coloured(&colours));
    let image = renderer().draw(&scene, &head_on(), 100, 100).unwrap();
    let (left, right) = (image.at(20, 50), image.at(80, 50));
    assert!(left[2] > left[0] + 40 && right[0] > right[2] + 40, "{left:?} {right:?}");
}

#[test]
fn the_ground_is_not_there_from_below_and_hides_what_is_under_it_from_above() {
    let (positions, triangles) = sphere(Vec3::new(0.0, -0.5, 0.0), 0.3);
    let mesh = MeshHandle::new(&triangles);
    let shot = |eye: Vec3, ground: Option<Ground>| {
        let scene =
            Scene { ground, ..Scene::new() }.with(Item::new(&mesh, &positions, paint(srgb(230, 0, 0))));
        let camera = Camera { eye, target: Vec3::new(0.0, -0.5, 0.0), ..Camera::default() };
        let p = renderer().draw(&scene, &camera, 64, 64).unwrap().at(32, 32);
        p[0] as i32 - p[2] as i32 > 60
    };
    let above = Vec3::new(0.0, 2.0, 2.0);
    assert!(shot(above, None));
    assert!(!shot(above, Some(Ground::default())));
    assert!(shot(Vec3::new(0.0, -2.0, 2.0), Some(Ground { grid_m: 0.5, ..Ground::default() })));
}

#[test]
fn odd_requests_are_answered() {
    let camera = Camera::default();
    let positions = square(0.5, 0.0);
    let mesh = MeshHandle::new(&SQUARE);
    let scene = Scene::new().with(Item::new(&mesh, &positions, Material::default()));
    let mut renderer = renderer();
    // Small ones are drawn.
    assert_eq!(renderer.draw(&scene, &camera, 1, 1).unwrap().pixels().len(), 4);
    assert_eq!(renderer.draw(&Scene::new(), &camera, 3, 2).unwrap().width(), 3);
    let nothing =
        Scene { ground: None, ..Scene::new() }.with(Item::new(&MeshHandle::new(&[]), &[], Material::body()));
    let dark = Scene { backdrop: Backdrop { top: Vec3::ZERO, bottom: Vec3::ZERO }, ..nothing };
    assert_eq!(renderer.draw(&dark, &camera, 2, 2).unwrap().at(0, 0), [0, 0, 0, 255]);
    // Impossible ones are errors that say why, and the renderer lives on.
    for (w, h) in [(0, 10), (10, 0), (1 << 30, 1), (1, u32::MAX), (16000, 16000)] {
        match renderer.draw(&scene, &camera, w, h) {
            Err(Error::Size { width, height, limit }) => {
                assert_eq!((width, height), (w, h));
                assert!(!limit.is_empty());
            }
            other => panic!("{w}×{h}: {:?}", other.map(|i| (i.width(), i.height()))),
        }
    }
    let mut broken = positions.clone();
    broken[2].y = f32::NAN;
    let message = |r: &mut Renderer, scene: &Scene<'_>, camera: &Camera| {
        r.draw(scene, camera, 8, 8).unwrap_err().to_string()
    };
    let bad = Scene::new().with(Item::new(&mesh, &broken, Material::default()));
    assert!(message(&mut renderer, &bad, &camera).contains("vertex 2"));
    let short = Scene::new().with(Item::new(&mesh, &positions[..3], Material::default()));
    assert!(message(&mut renderer, &short, &camera).contains("4 vertices"));
    let colours = [Vec3::ONE; 2];
    let uneven = Scene::new().with(Item::new(&mesh, &positions, Material::default()).coloured(&colours));
    assert!(message(&mut renderer, &uneven, &camera).contains("2 colours"));
    let blind = Camera { eye: Vec3::NAN, ..camera };
    assert!(message(&mut renderer, &scene, &blind).contains("camera"));
    // A camera inside the mesh, straight above it, or at its own target is only odd.
    for eye in [Vec3::Y, Vec3::new(0.0, 5.0, 0.0), camera.target] {
        renderer.draw(&scene, &Camera { eye, ..camera }, 16, 16).unwrap();
    }
    // Positions far out are drawn somehow, never a crash.
    let far: Vec<Vec3> = positions.iter().map(|p| *p * 1e30).collect();
    renderer.draw(&Scene::new().with(Item::new(&mesh, &far, Material::default())), &camera, 16, 16).unwrap();
}

#[test]
fn a_picture_lies_on_a_surface_the_right_way_up_and_is_cut_out_where_it_is_empty() {
    let mut renderer = renderer();
    // Red and green above, blue and nothing below.
    let rgba = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 0]].concat();
    let texture = Texture::from_rgba(2, 2, rgba).unwrap();
    let (mesh, positions) = (MeshHandle::new(&SQUARE), square(0.5, 0.0));
    // As glTF has it: (0, 0) is the picture's upper left corner.
    let uvs = [Vec2::new(0.0, 1.0), Vec2::ONE, Vec2::new(1.0, 0.0), Vec2::ZERO];
    let mut draw = |cutout: f32| {
        let material = Material { cutout, ..paint(Vec3::ONE) };
        let mut scene = Scene::new().with(Item::new(&mesh, &positions, material).pictured(&texture, &uvs));
        scene.ground = None;
        renderer.draw(&scene, &head_on(), 120, 120).unwrap()
    };
    let whole = draw(0.0);
    let at = |image: &Image, x: f32, y: f32| {
        let p = head_on().pixel(Vec3::new(x, 1.0 + y, 0.0), 120, 120).unwrap();
        image.at(p.x as u32, p.y as u32)
    };
    for (x, y, brightest) in [(-0.3, 0.3, 0), (0.3, 0.3, 1), (-0.3, -0.3, 2)] {
        let p = at(&whole, x, y);
        let most = (0..3).max_by_key(|k| p[*k]).unwrap();
        assert!(most == brightest && p[most] > 90, "{p:?} at {x}, {y}");
    }
    let (kept, cut) = (at(&whole, 0.4, -0.4), at(&draw(0.5), 0.4, -0.4));
    let mut empty = Scene::new();
    empty.ground = None;
    let wall = at(&renderer.draw(&empty, &head_on(), 120, 120).unwrap(), 0.4, -0.4);
    assert_ne!(kept, cut);
    assert!((0..3).all(|k| cut[k].abs_diff(wall[k]) < 8), "{cut:?} is not the wall {wall:?}");
}

#[test]
fn a_canvas_holds_the_same_picture_without_waiting() {
    let mut renderer = renderer();
    let (positions, triangles) = sphere(Vec3::Y, 0.4);
    let mesh = MeshHandle::new(&triangles);
    let scene = Scene::new().with(Item::new(&mesh, &positions, Material::body()));
    let image = renderer.draw(&scene, &head_on(), 90, 70).unwrap();
    let canvas = renderer.canvas(90, 70).unwrap();
    renderer.draw_on(&canvas, &scene, &head_on()).unwrap();
    assert_eq!(renderer.read(&canvas).unwrap(), image);
    assert!(renderer.canvas(0, 70).is_err());
    let tiny = renderer.canvas(1, 1).unwrap();
    renderer.draw_on(&tiny, &scene, &head_on()).unwrap();
}
