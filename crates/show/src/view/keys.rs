//! What each key does: one table, which is also the help.

use super::Action;
use super::way::Way;
use crate::View;
use egui::Key;

/// What is switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The body.
    Body,
    /// The garment.
    Cloth,
    /// Edges of the cloth's triangles.
    Wireframe,
    /// Colours by the distance to the truth.
    Heat,
    /// The truth as a ghost.
    Ghost,
    /// The camera goes along.
    Follow,
    /// Charts under the controls.
    Charts,
    /// The panel of controls.
    Panel,
    /// The list of keys.
    Help,
}

/// Keys, what they do, and in words.
pub const KEYS: &[(Key, Action, &str)] = &[
    (Key::Space, Action::PlayPause, "play or pause"),
    (Key::ArrowRight, Action::Step(1), "one frame on"),
    (Key::ArrowLeft, Action::Step(-1), "one frame back"),
    (Key::Home, Action::Scrub(0.0), "to the beginning"),
    (Key::End, Action::Scrub(f64::MAX), "to the end"),
    (Key::ArrowUp, Action::Faster(1.25), "faster"),
    (Key::ArrowDown, Action::Faster(0.8), "slower"),
    (Key::Num1, Action::Panes(1), "one pane"),
    (Key::Num2, Action::Panes(2), "two panes in lock-step"),
    (Key::Num4, Action::Panes(4), "four panes in lock-step"),
    (Key::T, Action::NextWay, "next tier in the first pane"),
    (Key::B, Action::Switch(Switch::Body), "body on or off"),
    (Key::C, Action::Switch(Switch::Cloth), "cloth on or off"),
    (Key::W, Action::Switch(Switch::Wireframe), "wireframe"),
    (Key::E, Action::Switch(Switch::Heat), "error as colour"),
    (Key::G, Action::Switch(Switch::Ghost), "ghost of the truth"),
    (Key::F, Action::Switch(Switch::Follow), "follow the wearer"),
    (Key::V, Action::Look(View::Front), "from the front"),
    (Key::X, Action::Look(View::Side), "from the side"),
    (Key::Z, Action::Look(View::Back), "from behind"),
    (Key::O, Action::ResetCamera, "camera as at first"),
    (Key::P, Action::Switch(Switch::Panel), "controls on or off"),
    (Key::M, Action::Switch(Switch::Charts), "charts on or off"),
    (Key::S, Action::Screenshot, "keep a picture"),
    (Key::R, Action::Record, "record the clip, or stop"),
    (Key::H, Action::Switch(Switch::Help), "this list"),
];

/// What a key does.
pub fn action(key: Key) -> Option<Action> {
    KEYS.iter().find(|(k, ..)| *k == key).map(|(_, action, _)| action.clone())
}

/// The way after this one, around the list.
pub(super) fn after(way: Way) -> Way {
    let at = Way::ALL.iter().position(|w| *w == way).unwrap_or(0);
    Way::ALL[(at + 1) % Way::ALL.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        for (k, (key, ..)) in KEYS.iter().enumerate() {
            assert!(!KEYS[..k].iter().any(|(other, ..)| other == key), "{key:?}");
        }
        assert_eq!(action(Key::Space), Some(Action::PlayPause));
        assert_eq!(action(Key::Q), None);
        assert_eq!((0..Way::ALL.len()).fold(Way::Skin, |way, _| after(way)), Way::Skin);
    }
}
