//! Live charts: what each frame of the clip was noticed to be, the present frame marked.

use super::{Noted, Viewer};
use egui::{Align2, Color32, FontId, Pos2, Rect, Sense, Stroke, Ui, Vec2};

/// One chart: its title, its unit, what of a frame it shows, and a line not to be passed.
struct Chart {
    title: &'static str,
    unit: &'static str,
    of: fn(&Noted) -> Option<f32>,
    limit: Option<f32>,
    /// In decades: a simulated step takes a thousand times as long as a learned one.
    decades: bool,
}

const CHARTS: [Chart; 6] = [
    Chart { title: "error", unit: "cm", of: |n| n.error_cm, limit: None, decades: false },
    Chart { title: "beyond skinning", unit: "cm/s", of: |n| n.lively_cm_per_s, limit: None, decades: false },
    Chart {
        title: "step",
        unit: "µs",
        of: |n| Some(n.step_us).filter(|us| *us > 0.0),
        limit: None,
        decades: true,
    },
    Chart { title: "trusted (gate)", unit: "", of: |n| n.gate, limit: None, decades: false },
    Chart {
        title: "pose against training",
        unit: "×",
        of: |n| n.pose_distance,
        limit: Some(1.0),
        decades: false,
    },
    Chart {
        title: "certificate used",
        unit: "%",
        of: |n| n.bound_share.map(|s| 100.0 * s),
        limit: Some(100.0),
        decades: false,
    },
];

/// Colours of the panes' lines, as in the labels of the panes.
pub(super) const PANES: [Color32; 4] = [
    Color32::from_rgb(0x1f, 0x6f, 0x8b),
    Color32::from_rgb(0xc0, 0x5a, 0x2b),
    Color32::from_rgb(0x5d, 0x7d, 0x2e),
    Color32::from_rgb(0x7a, 0x4f, 0x9a),
];

/// All charts that have something to show.
pub(super) fn show(ui: &mut Ui, viewer: &Viewer) {
    let at = viewer.playback.frame / (viewer.playback.frames.max(2) - 1) as f64;
    for chart in &CHARTS {
        let lines: Vec<Vec<Option<f32>>> =
            (0..viewer.ways().len()).map(|pane| viewer.notes(pane).iter().map(chart.of).collect()).collect();
        if lines.iter().flatten().any(Option::is_some) {
            draw(
                ui,
                chart,
                &lines,
                viewer.playback.frames,
                viewer.playback.frame.round() as usize,
                at as f32,
            );
        }
    }
    if !viewer.stages.is_empty() {
        let text: Vec<String> = viewer.stages.iter().map(|(name, us)| format!("{name} {us:.0}")).collect();
        ui.small(format!("µs a frame: {}", text.join(", ")));
    }
}

fn draw(ui: &mut Ui, chart: &Chart, lines: &[Vec<Option<f32>>], frames: usize, now: usize, at: f32) {
    let (response, painter) = ui.allocate_painter(Vec2::new(ui.available_width(), 54.0), Sense::hover());
    let visuals = ui.visuals();
    let (ink, faint) = (visuals.text_color(), visuals.weak_text_color());
    let area =
        Rect::from_min_max(response.rect.min + Vec2::new(0.0, 15.0), response.rect.max - Vec2::new(0.0, 2.0));
    let mut all: Vec<f32> = lines.iter().flatten().flatten().copied().filter(|v| v.is_finite()).collect();
    all.sort_by(f32::total_cmp);
    // One frame in fifty may stand out: the clock of a busy machine must not flatten all the others.
    let most = all.get((all.len() * 49 / 50).min(all.len().saturating_sub(1))).copied().unwrap_or(0.0);
    // A line that is near its limit is seen to be.
    let top = chart.limit.filter(|l| most > 0.6 * l).map_or(most, |l| most.max(l)).max(1e-6) * 1.05;
    let values: Vec<String> =
        lines.iter().filter_map(|l| l.get(now).copied().flatten()).map(figure).collect();
    let font = FontId::proportional(11.0);
    painter.text(response.rect.min, Align2::LEFT_TOP, chart.title, font.clone(), ink);
    let now = format!("{} {}", values.join("  "), chart.unit);
    painter.text(response.rect.right_top(), Align2::RIGHT_TOP, now, font, ink);
    painter.rect_stroke(area, 0.0, Stroke::new(0.5, faint), egui::StrokeKind::Inside);
    let place = |f: usize, v: f32| {
        let x = f as f32 / (frames.max(2) - 1) as f32;
        let y = if chart.decades { v.max(1.0).ln() / top.max(10.0).ln() } else { v / top };
        Pos2::new(area.left() + x * area.width(), area.bottom() - y.clamp(0.0, 1.0) * area.height())
    };
    if let Some(limit) = chart.limit.filter(|l| *l < top) {
        let y = place(0, limit).y;
        let red = Color32::from_rgb(0xb0, 0x2a, 0x2a);
        painter.line_segment([Pos2::new(area.left(), y), Pos2::new(area.right(), y)], Stroke::new(1.0, red));
    }
    for (line, colour) in lines.iter().zip(PANES) {
        let points: Vec<Pos2> = line.iter().enumerate().filter_map(|(f, v)| Some(place(f, (*v)?))).collect();
        painter.line(points, Stroke::new(1.3, colour));
    }
    let x = area.left() + at * area.width();
    painter.line_segment([Pos2::new(x, area.top()), Pos2::new(x, area.bottom())], Stroke::new(1.0, ink));
}

/// Three digits, or all there are before the point.
fn figure(value: f32) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 2 - usize::from(value.abs() >= 10.0) };
    format!("{value:.digits$}")
}
