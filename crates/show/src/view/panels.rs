//! The viewer's controls, laid out with egui: panes in the middle, time below, everything else at the side.

use super::{Action, KEYS, SPEEDS, Switch, Viewer, Way, charts, keys};
use crate::View;
use egui::{
    Align2, Color32, ComboBox, CornerRadius, FontId, Frame, Key, Panel, PointerButton, Pos2, Rect,
    ScrollArea, Sense, Slider, TextureId, Ui, UiBuilder, Vec2,
};

/// Below this many points the controls lie over the picture, and only when asked for.
const NARROW: f32 = 640.0;
const PANEL: f32 = 250.0;

/// Lays everything out and acts on what the user does. Gives where each pane lies, in points.
pub(super) fn show(ui: &mut Ui, viewer: &mut Viewer, pictures: &[TextureId]) -> Vec<Rect> {
    press_keys(ui, viewer);
    let narrow = ui.available_width() < NARROW;
    let high = ui.available_height() > 120.0;
    if high {
        Panel::bottom("time").show(ui, |ui| timeline(ui, viewer, narrow));
    }
    if viewer.showing.panel && high {
        let panel =
            Panel::right("controls").resizable(false).exact_size(PANEL.min(0.85 * ui.available_width()));
        panel.show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| controls(ui, viewer));
        });
    }
    let area = ui.available_rect_before_wrap();
    let rects = split(area, viewer.ways().len());
    for (pane, rect) in rects.iter().enumerate() {
        pane_at(ui, viewer, pane, *rect, pictures.get(pane).copied());
    }
    messages(ui, viewer, area);
    if viewer.showing.help {
        help(ui, viewer);
    }
    rects
}

/// Panes side by side, or two by two.
fn split(area: Rect, panes: usize) -> Vec<Rect> {
    let across = area.width() >= area.height();
    let (columns, rows) = match (panes, across) {
        (0 | 1, _) => (1, 1),
        (2, true) => (2, 1),
        (2, false) => (1, 2),
        _ => (2, 2),
    };
    let gap = if panes > 1 { 2.0 } else { 0.0 };
    let size = Vec2::new(area.width() / columns as f32, area.height() / rows as f32);
    (0..panes.max(1))
        .map(|k| {
            let at = Vec2::new((k % columns) as f32 * size.x, (k / columns) as f32 * size.y);
            Rect::from_min_size(area.min + at, (size - Vec2::splat(gap)).max(Vec2::ZERO))
        })
        .collect()
}

fn press_keys(ui: &Ui, viewer: &mut Viewer) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    // A slider that was last touched would take the arrows as well.
    ui.ctx().memory_mut(|m| m.focused().into_iter().for_each(|id| m.surrender_focus(id)));
    let pressed: Vec<Key> = ui.input(|i| {
        let keys = i.events.iter().filter_map(|e| match e {
            egui::Event::Key { key, pressed: true, modifiers, .. } if modifiers.is_none() => Some(*key),
            _ => None,
        });
        keys.collect()
    });
    pressed.into_iter().filter_map(keys::action).for_each(|action| viewer.act(action));
}

fn pane_at(ui: &mut Ui, viewer: &mut Viewer, pane: usize, rect: Rect, picture: Option<TextureId>) {
    let response = ui.interact(rect, ui.scope_id().with(("pane", pane)), Sense::click_and_drag());
    if let Some(picture) = picture {
        let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
        ui.painter().image(picture, rect, whole, Color32::WHITE);
    }
    let tall = rect.height().max(1.0);
    let drag = response.drag_delta();
    let moved = glam::Vec2::new(drag.x / tall, drag.y / tall);
    let shift = ui.input(|i| i.modifiers.shift);
    if drag != Vec2::ZERO && (shift || !response.dragged_by(PointerButton::Primary)) {
        viewer.act(Action::Pan(moved));
    } else if drag != Vec2::ZERO {
        viewer.act(Action::Turn(moved));
    }
    if response.double_clicked() {
        viewer.act(Action::ResetCamera);
    }
    if response.contains_pointer() {
        let (scroll, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
        if scroll != 0.0 || pinch != 1.0 {
            viewer.act(Action::Zoom((0.004 * scroll).exp() * pinch));
        }
    }
    if rect.width() > 90.0 && rect.height() > 60.0 {
        let corner = Rect::from_min_size(rect.min + Vec2::splat(8.0), rect.size() - Vec2::splat(16.0));
        ui.scope_builder(UiBuilder::new().max_rect(corner), |ui| pane_label(ui, viewer, pane));
    }
}

fn pane_label(ui: &mut Ui, viewer: &mut Viewer, pane: usize) {
    let way = viewer.ways()[pane];
    ui.horizontal(|ui| {
        let colour = charts::PANES[pane % 4];
        let (mark, _) = ui.allocate_exact_size(Vec2::splat(10.0), Sense::hover());
        ui.painter().rect_filled(mark, CornerRadius::same(2), colour);
        let mut chosen = way;
        ComboBox::from_id_salt(("tier", pane)).selected_text(way.name()).width(80.0).show_ui(ui, |ui| {
            for other in Way::ALL {
                let lacks = viewer.lacks(other);
                let text = lacks.map_or_else(
                    || format!("{} · {}", other.name(), other.about()),
                    |why| format!("{} · {why}", other.name()),
                );
                ui.add_enabled_ui(lacks.is_none(), |ui| ui.selectable_value(&mut chosen, other, text));
            }
        });
        if chosen != way {
            viewer.act(Action::Choose(pane, chosen));
        }
    });
    let frame = viewer.playback.frame.round() as usize;
    let ink = Color32::from_rgb(0x33, 0x36, 0x3a);
    if let Some(noted) = viewer.notes(pane).get(frame) {
        let mut facts = Vec::new();
        facts.extend(noted.error_cm.map(|cm| format!("{cm:.2} cm off")));
        if noted.step_us > 0.0 {
            facts.push(format!("{:.0} µs", noted.step_us));
        }
        facts.extend(noted.pose_distance.filter(|d| *d > 1.0).map(|_| "out of range".to_string()));
        ui.colored_label(ink, facts.join(", "));
    } else if let Some((done, of)) = viewer.simulating().filter(|_| way == Way::Full) {
        ui.colored_label(ink, format!("simulating, {done} of {of} frames"));
    }
    if let Some(most_cm) = viewer.red_cm(pane).filter(|_| viewer.showing.heat) {
        legend(ui, most_cm, ink);
    }
}

/// From no distance to the most.
fn legend(ui: &mut Ui, most_cm: f32, ink: Color32) {
    ui.horizontal(|ui| {
        ui.colored_label(ink, "0");
        let (bar, _) = ui.allocate_exact_size(Vec2::new(90.0, 9.0), Sense::hover());
        for k in 0..30 {
            let part = Rect::from_min_size(bar.min + Vec2::new(3.0 * k as f32, 0.0), Vec2::new(3.0, 9.0));
            let [r, g, b] = crate::heat::bytes(crate::heat_colour(k as f32 / 29.0));
            ui.painter().rect_filled(part, CornerRadius::ZERO, Color32::from_rgb(r, g, b));
        }
        ui.colored_label(ink, format!("{most_cm:.1} cm"));
    });
}

fn timeline(ui: &mut Ui, viewer: &mut Viewer, narrow: bool) {
    ui.add_space(3.0);
    ui.horizontal(|ui| {
        if ui.button("‹").on_hover_text("one frame back (left arrow)").clicked() {
            viewer.act(Action::Step(-1));
        }
        let play = if viewer.playback.playing { "pause" } else { "play" };
        if ui.button(play).on_hover_text("space").clicked() {
            viewer.act(Action::PlayPause);
        }
        if ui.button("›").on_hover_text("one frame on (right arrow)").clicked() {
            viewer.act(Action::Step(1));
        }
        let last = (viewer.playback.frames - 1) as f64;
        let mut frame = viewer.playback.frame;
        let rest = if narrow { 130.0 } else { 270.0 };
        ui.spacing_mut().slider_width = (ui.available_width() - rest).max(40.0);
        if ui
            .add_enabled(last > 0.0, Slider::new(&mut frame, 0.0..=last.max(1.0)).show_value(false))
            .changed()
        {
            viewer.act(Action::Scrub(frame));
        }
        ui.monospace(format!("{:5.2} s", viewer.playback.secs()));
        if !narrow {
            let mut speed = viewer.playback.speed;
            ui.spacing_mut().slider_width = 70.0;
            let slider = Slider::new(&mut speed, SPEEDS[0]..=SPEEDS[1]).logarithmic(true).suffix("×");
            if ui.add(slider).on_hover_text("speed").changed() {
                viewer.act(Action::Speed(speed));
            }
        }
        if ui
            .selectable_label(viewer.showing.panel, "more")
            .on_hover_text("controls and charts (P)")
            .clicked()
        {
            viewer.act(Action::Switch(Switch::Panel));
        }
    });
    ui.add_space(2.0);
}

fn controls(ui: &mut Ui, viewer: &mut Viewer) {
    ui.add_space(4.0);
    ui.strong(viewer.title());
    let (clips, clip) = viewer.clips();
    if clips.len() > 1 {
        let names: Vec<String> = clips.iter().map(ToString::to_string).collect();
        let mut chosen = clip;
        ComboBox::from_id_salt("clip").selected_text(&names[clip.min(names.len() - 1)]).show_ui(ui, |ui| {
            for (k, name) in names.iter().enumerate() {
                ui.selectable_value(&mut chosen, k, name);
            }
        });
        if chosen != clip {
            viewer.act(Action::Clip(chosen));
        }
    }
    ui.horizontal(|ui| {
        ui.label("panes");
        for panes in [1, 2, 4] {
            if ui.selectable_label(viewer.ways().len() == panes, panes.to_string()).clicked() {
                viewer.act(Action::Panes(panes));
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        for (name, view) in [("front", View::Front), ("side", View::Side), ("back", View::Back)] {
            if ui.button(name).clicked() {
                viewer.act(Action::Look(view));
            }
        }
        if ui.button("reset").clicked() {
            viewer.act(Action::ResetCamera);
        }
    });
    ui.separator();
    let s = viewer.showing;
    let switches = [
        ("body", s.body, Switch::Body),
        ("error map", s.heat, Switch::Heat),
        ("cloth", s.cloth, Switch::Cloth),
        ("ghost", s.ghost, Switch::Ghost),
        ("wireframe", s.wireframe, Switch::Wireframe),
        ("follow", viewer.orbit.follows, Switch::Follow),
    ];
    ui.columns(2, |columns| {
        for (k, (name, mut on, switch)) in switches.into_iter().enumerate() {
            if columns[k % 2].checkbox(&mut on, name).changed() {
                viewer.act(Action::Switch(switch));
            }
        }
    });
    conditions(ui, viewer);
    ui.horizontal_wrapped(|ui| {
        if ui.button("picture").on_hover_text("keep a picture of the panes (S)").clicked() {
            viewer.act(Action::Screenshot);
        }
        let film = match viewer.recording() {
            Some((done, of)) => format!("stop ({done}/{of})"),
            None => "film".into(),
        };
        if ui.button(film).on_hover_text("record the clip (R)").clicked() {
            viewer.act(Action::Record);
        }
        if ui.button("keys").clicked() {
            viewer.act(Action::Switch(Switch::Help));
        }
    });
    ui.small("drop a body, garment, take, model or motion here");
    if s.charts {
        ui.separator();
        charts::show(ui, viewer);
    }
}

fn conditions(ui: &mut Ui, viewer: &mut Viewer) {
    let (conditions, most_dims) = viewer.conditions();
    ui.spacing_mut().slider_width = 110.0;
    let mut wind = conditions.wind.z;
    if ui.add(Slider::new(&mut wind, -6.0..=6.0).text("wind m/s")).changed() {
        viewer.act(Action::Wind(glam::Vec3::new(0.0, 0.0, wind)));
    }
    if let Some(most) = most_dims {
        let mut dims = conditions.dims.unwrap_or(most);
        if ui.add(Slider::new(&mut dims, 0..=most).text("dims")).changed() {
            viewer.act(Action::Dims((dims < most).then_some(dims)));
        }
    }
}

fn messages(ui: &Ui, viewer: &Viewer, area: Rect) {
    let mut at = area.left_bottom() + Vec2::new(10.0, -10.0);
    for message in viewer.messages.shown().iter().rev() {
        let (fill, ink) = if message.fault {
            (Color32::from_rgb(0x8a, 0x1f, 0x1f), Color32::WHITE)
        } else {
            (Color32::from_rgba_unmultiplied(0x22, 0x25, 0x29, 0xd8), Color32::WHITE)
        };
        let wide = (area.width() - 40.0).clamp(20.0, 620.0);
        let text = ui.painter().layout(message.text.clone(), FontId::proportional(13.0), ink, wide);
        let rect = Align2::LEFT_BOTTOM.anchor_size(at, text.size() + Vec2::new(16.0, 10.0));
        if rect.top() < area.top() {
            break;
        }
        ui.painter().rect_filled(rect, CornerRadius::same(4), fill);
        ui.painter().galley(rect.min + Vec2::new(8.0, 5.0), text, ink);
        at.y = rect.top() - 6.0;
    }
}

fn help(ui: &Ui, viewer: &mut Viewer) {
    let mut open = true;
    let frame = Frame::window(ui.style());
    egui::Window::new("keys").open(&mut open).frame(frame).collapsible(false).show(ui.ctx(), |ui| {
        egui::Grid::new("keys").striped(true).show(ui, |ui| {
            for (key, _, about) in KEYS {
                ui.monospace(key.name());
                ui.label(*about);
                ui.end_row();
            }
        });
        ui.small("drag: turn   shift or right drag: move   wheel: nearer   double click: reset");
    });
    if !open {
        viewer.act(Action::Switch(Switch::Help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_fill_the_area_without_lying_over_each_other() {
        for size in [Vec2::new(800.0, 600.0), Vec2::new(300.0, 700.0), Vec2::new(1.0, 1.0)] {
            let area = Rect::from_min_size(Pos2::new(3.0, 4.0), size);
            for panes in [1, 2, 4] {
                let rects = split(area, panes);
                assert_eq!(rects.len(), panes);
                for (k, rect) in rects.iter().enumerate() {
                    assert!(area.expand(0.01).contains_rect(*rect), "{rect:?} of {area:?}");
                    let apart = |other: &Rect| !rect.shrink(0.01).intersects(other.shrink(0.01));
                    assert!(size.x < 2.0 || rects[..k].iter().all(apart));
                }
            }
        }
    }
}
