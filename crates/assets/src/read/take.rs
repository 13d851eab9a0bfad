//! Takes from safetensors files.
